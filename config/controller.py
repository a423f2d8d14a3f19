"""`controller`: the pod that runs slurmctld."""

from pydantic import Field

from config.section import Section
from config.storage import OwnVolume
from config.types import CpuQuantity, FilterName, Interval, MemorySize, Switch


class Controller(Section):
    """The pod that runs slurmctld."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that its pod, and the standby, run under."""

    standby: Switch = Field(default=False, examples=[True])
    """Hold room and the image on a second node, so that a lost node costs seconds and not minutes."""

    backup: Switch = Field(default=False, examples=[True])
    """Run a second slurmctld on another node. It takes over by itself when the first one is silent for `takeover`, and
    gives the cluster back when that one returns. Both keep the queue in the same place: `state` must be a volume that
    two nodes can mount and write to at a time. Not together with `standby`."""

    takeover: Interval = Field(default=Interval(30), examples=["30s"])
    """With `backup`: how long the first one may be silent. Longer than its pod takes to be replaced."""

    cpus: CpuQuantity = Field(default=CpuQuantity(500), examples=[2])
    """CPUs that are set aside for slurmctld. Ten thousand nodes keep about four busy."""

    memory: MemorySize = Field(default=MemorySize.parse("256Mi"), examples=["4Gi"])
    """Memory that is set aside for slurmctld. While it reads its files it needs 30 MiB for a thousand nodes and 200 MiB
    for ten thousand, twice that during a reconfigure, and more for tens of thousands of jobs."""

    state: OwnVolume = Field(default=OwnVolume(), examples=[{"storageClass": "fast", "size": "20Gi"}])
    """Where slurmctld keeps the queue. It cannot be moved while the cluster runs."""
