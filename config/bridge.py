"""`bridge`: Kubernetes pods that wait in Slurm's queue and run where Slurm says."""

from pydantic import Field

from config.section import Section
from config.types import DnsLabel, FilterName, PartitionName, Switch


class Bridge(Section):
    """Kubernetes pods that wait in Slurm's queue and run where Slurm says. It talks to Slurm through `rest`."""

    enabled: Switch = Field(default=False, examples=[True])
    """Run it. Needs `rest.enabled`."""

    partition: PartitionName | None = Field(default=None, examples=["main"])
    """The partition that pods wait in if they name none; the default partition if left out."""

    namespaces: list[DnsLabel] = Field(default=[], examples=[["batch"]])
    """Kubernetes namespaces whose pods go through Slurm."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that its own pods run under."""
