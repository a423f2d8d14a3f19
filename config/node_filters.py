"""`nodeFilters`: named rules for where pods may run."""

from typing import Annotated, Any, Literal

from pydantic import Field

from config.section import Section
from config.types import Choice, Count, CpuCount, Integer, LabelKey, LabelValue, MemorySize

Operator = Annotated[Literal["Exists", "Equal"], Choice()]
Effect = Annotated[Literal["NoSchedule", "PreferNoSchedule", "NoExecute"], Choice()]


class Toleration(Section):
    """A taint that pods of this filter put up with, in Kubernetes' own words."""

    key: LabelKey = Field(examples=["nvidia.com/gpu"])
    """The key of the taint."""

    operator: Operator = Field(default="Exists", examples=["Exists"])
    """`Exists` for any value of the taint, `Equal` for the one in `value`."""

    value: LabelValue | None = Field(default=None, examples=["present"])
    """The value of the taint, with `operator: Equal`."""

    effect: Effect | None = Field(default=None, examples=["NoSchedule"])
    """The effect of the taint; all effects if left out."""

    toleration_seconds: Count | None = Field(default=None, examples=[300])
    """How long a pod stays after a `NoExecute` taint appears, in seconds; for ever if left out."""


class NodeFilter(Section):
    """Pods of this filter run only on the Kubernetes nodes that it describes."""

    node_selector: dict[LabelKey, LabelValue] = Field(default={}, examples=[{"slipway/role": "compute"}])
    """Labels that a node must carry, all of them."""

    affinity: dict[str, Any] = Field(default={}, examples=[{"nodeAffinity": {}}])
    """A Kubernetes affinity object, handed on as it is."""

    tolerations: list[Toleration] = Field(default=[], examples=[[{"key": "nvidia.com/gpu"}]])
    """Taints that the pods put up with. Those of the control plane are never tolerated."""

    nodes: Annotated[Integer, Field(ge=0)] | None = Field(default=None, examples=[16])
    """How many Kubernetes nodes the filter selects, if you wish to state it: more pods than fit are then an error."""

    node_cpus: CpuCount | None = Field(default=None, examples=[128])
    """CPUs that pods may use on one such node: what asks for more is an error, instead of a pod that waits for ever."""

    node_memory: MemorySize | None = Field(default=None, examples=["500Gi"])
    """Memory that pods may use on one such node."""

    node_gpus: Count | None = Field(default=None, examples=[8])
    """GPUs of one such node."""


ROLE = "slipway/role"


def default_node_filters() -> dict[str, NodeFilter]:
    """One filter for what serves and one for what computes, by the labels that the lab puts on its nodes."""
    return {role: NodeFilter(node_selector={ROLE: role}) for role in ("system", "compute")}
