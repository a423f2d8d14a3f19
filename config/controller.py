"""`controller`: the pod that runs slurmctld."""

from pydantic import Field

from config.section import Section
from config.storage import OwnVolume
from config.types import CpuQuantity, FilterName, MemorySize, Switch


class Controller(Section):
    """The pod that runs slurmctld."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that its pod, and the standby, run under."""

    standby: Switch = Field(default=False, examples=[True])
    """Hold room and the image on a second node, so that a lost node costs seconds and not minutes."""

    cpus: CpuQuantity = Field(default=CpuQuantity(500), examples=[2])
    """CPUs that are set aside for slurmctld. Ten thousand nodes keep about four busy."""

    memory: MemorySize = Field(default=MemorySize.parse("1Gi"), examples=["16Gi"])
    """Memory that is set aside for slurmctld."""

    state: OwnVolume = Field(default=OwnVolume(), examples=[{"storageClass": "fast", "size": "20Gi"}])
    """Where slurmctld keeps the queue. It cannot be moved while the cluster runs."""
