"""The whole stack config as one checked value."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.node_filters import NodeFilter


class Cluster(BaseModel):
    """Names that hold for everything in the stack."""

    model_config = ConfigDict(extra="forbid")

    name: str = "dev"
    namespace: str = "slurm"


class Images(BaseModel):
    """Which image each kind of pod runs."""

    model_config = ConfigDict(extra="forbid")

    probe: str


class Settings(BaseModel):
    """Everything that the `slipway:` keys of a stack file say."""

    model_config = ConfigDict(extra="forbid")

    cluster: Cluster = Field(default_factory=Cluster)
    nodeFilters: dict[str, NodeFilter] = Field(default_factory=dict)  # noqa: N815 -- as in the stack file
    images: Images

    @classmethod
    def load(cls, values: Mapping[str, Any], environment: Mapping[str, str]) -> "Settings":
        """Check the stack's values. Images that the stack does not name are the ones that the lab has built."""
        images = {"probe": environment.get("SLIPWAY_PROBE_IMAGE"), **(values.get("images") or {})}
        named = {name: image for name, image in images.items() if image}
        return cls.model_validate({**values, "images": named})


def problems(error: ValidationError) -> str:
    """Each problem on a line of its own, with the key that a user would look for."""
    lines = [f"  slipway:{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    return "\n".join(["The stack config is not valid:", *lines])
