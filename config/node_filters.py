"""Node filters: named rules for where pods may run."""

from pydantic import BaseModel, ConfigDict, Field


class Toleration(BaseModel):
    """A taint that pods of this filter put up with, in Kubernetes' own words."""

    model_config = ConfigDict(extra="forbid")

    key: str
    operator: str = "Exists"
    value: str | None = None
    effect: str | None = None


class NodeFilter(BaseModel):
    """Pods of this filter run only on nodes that carry these labels."""

    model_config = ConfigDict(extra="forbid")

    nodeSelector: dict[str, str] = Field(default_factory=dict)  # noqa: N815 -- Kubernetes' own spelling
    tolerations: list[Toleration] = Field(default_factory=list)
