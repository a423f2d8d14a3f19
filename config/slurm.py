"""`slurm`: how Slurm itself behaves, and any key of slurm.conf that has no setting of its own."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from config.section import Section
from config.slurm_keys import CLUSTER_KEYS
from config.types import Choice, Integer, SlurmName, SlurmValue, String

Cgroup = Annotated[Literal["auto", "v2", "disabled"], Choice()]
ClusterKey = Annotated[String, AfterValidator(CLUSTER_KEYS.check)]
TopologyPlugin = Annotated[Literal["none", "tree", "block"], Choice()]


class SwitchAbove(Section):
    """A switch that other switches hang on."""

    switches: list[SlurmName] = Field(examples=[["rack1", "rack2"]], min_length=1)
    """The switches below it: leaves that NodeSets name, or other switches."""


class Topology(Section):
    """The network between the nodes, so that jobs get nodes that are near each other."""

    plugin: TopologyPlugin = Field(default="none", examples=["tree"])
    """`tree` for switches above switches, `block` for groups of nodes with a fast network inside, or `none`."""

    switches: dict[SlurmName, SwitchAbove] = Field(default={}, examples=[{"spine": {"switches": ["rack1", "rack2"]}}])
    """With `tree`: the switches above the leaves. The leaves are named by the NodeSets' `topology.switch`."""

    block_sizes: list[Annotated[Integer, Field(ge=1)]] = Field(default=[], examples=[[18, 36]])
    """With `block`: how many nodes are planned together, the smallest number first and each of the others a power of
    two times the first. If left out, the size of the smallest block."""


class Slurm(Section):
    """How Slurm itself behaves."""

    cgroup: Cgroup = Field(default="auto", examples=["auto"])
    """How jobs are kept within what they asked for: `v2` by cgroup v2, `disabled` not at all, `auto` by `v2` where
    the nodes have it."""

    topology: Topology = Field(default=Topology(), examples=[{"plugin": "tree"}])
    """The network between the nodes."""

    extra: Annotated[dict[ClusterKey, SlurmValue], BeforeValidator(CLUSTER_KEYS.once)] = Field(
        default={},
        examples=[{"SchedulerParameters": ["bf_continue", "bf_window=2880"]}],
        json_schema_extra=CLUSTER_KEYS.json_schema,
    )
    """Any other key of slurm.conf, by Slurm's name for it. Lists are joined by commas, true and false become yes and
    no. Keys that follow from other settings are refused."""
