"""`worker` and `nodeSets`: groups of equal Slurm nodes, each a StatefulSet of worker pods."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from config.limits import JobLimits
from config.section import Section
from config.slurm_keys import NODE_KEYS
from config.storage import NodeSubmount
from config.types import (
    Choice,
    CountOrPercent,
    CpuCount,
    Feature,
    FilterName,
    GresName,
    GresType,
    Integer,
    Interval,
    LabelKey,
    MemorySize,
    ResourceName,
    SlurmName,
    SlurmValue,
    String,
    Switch,
)
from config.types.names import Named

MOST_NODES = 65536  # in one Slurm cluster

NodeCount = Annotated[Integer, Field(ge=0, le=MOST_NODES)]
GresCount = Annotated[Integer, Field(ge=1)]
Kind = Annotated[Literal["static", "dynamic"], Choice()]
GresFlag = Annotated[Literal["CountOnly", "explicit", "one_sharing", "all_sharing"], Choice()]
DeviceFile = Annotated[
    String,
    Named(
        "a device file or a range of them",
        r"/dev(/(?!\.{1,2}(/|$))[A-Za-z0-9_.-]+)+(/?\[[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*\])?",
        256,
        ("/dev/fpga[0-3]",),
    ),
]
NodeKey = Annotated[String, AfterValidator(NODE_KEYS.check)]


class Gpus(Section):
    """The GPUs of one node."""

    count: Annotated[Integer, Field(ge=1, le=1024)] = Field(examples=[8])
    """How many GPUs each node has."""

    type: GresType | None = Field(default=None, examples=["h100"])
    """Their type, for `--gpus=h100:2`. Without it users can ask only for a number."""

    resource_name: ResourceName = Field(default="nvidia.com/gpu", examples=["amd.com/gpu"])
    """What the device plugin of the Kubernetes cluster calls them."""


class Gres(Section):
    """A generic resource of one node other than GPUs."""

    count: GresCount = Field(default=1, examples=[4])
    """How much of it each node has."""

    type: GresType | None = Field(default=None, examples=["nvme"])
    """Its type, for `--gres=name:type:1`."""

    file: DeviceFile | None = Field(default=None, examples=["/dev/fpga[0-3]"])
    """Device files, one for each: a path under /dev with an optional range. Left out for a mere count."""

    no_consume: Switch = Field(default=False, examples=[True])
    """Jobs that ask for it do not use it up: any number of them may hold it at a time."""

    flags: list[GresFlag] = Field(default=[], examples=[["explicit"]])
    """Flags of gres.conf: `CountOnly` loads no plugin for it, `explicit` gives it only to jobs that ask by name."""


class Place(Section):
    """Where in the network the nodes are: a switch or block by name, or a node label that holds the name."""

    switch: SlurmName | None = Field(default=None, examples=["rack1"])
    """The leaf switch that all nodes of the NodeSet hang on (`slurm.topology.plugin: tree`)."""

    block: SlurmName | None = Field(default=None, examples=["block1"])
    """The block that all nodes of the NodeSet are in (`slurm.topology.plugin: block`)."""

    node_label: LabelKey | None = Field(default=None, examples=["topology.kubernetes.io/rack"])
    """A label of the Kubernetes nodes whose value names the leaf switch or block of the pods that run there. It needs
    `kind: dynamic`: such a node says where it is when it starts, and Slurm remembers it. A block must be one of
    `slurm.topology.blocks`; a leaf switch hangs `below` a switch, and need not be known beforehand."""

    below: SlurmName | None = Field(default=None, examples=["spine"])
    """With `nodeLabel` and `plugin: tree`: the one of `slurm.topology.switches` that the label's switches hang on."""

    @model_validator(mode="after")
    def _one_place(self) -> "Place":
        """A node is in one place."""
        if sum(each is not None for each in (self.switch, self.block, self.node_label)) != 1:
            raise PydanticCustomError("slipway", "must name exactly one of switch, block, nodeLabel", {})
        if self.below and not self.node_label:
            raise PydanticCustomError("slipway", "names `below`, which has a meaning only with nodeLabel", {})
        return self


class Autoscale(Section):
    """Nodes that run while there is work for them: Slurm starts and stops their pods by itself (power saving)."""

    min: NodeCount = Field(default=0, examples=[1])
    """How many nodes always run: the first ones. At most `size`."""

    idle: Interval = Field(default=Interval(600), examples=["10m"])
    """How long a node is without a job before its pod is stopped."""

    start_timeout: Interval = Field(default=Interval(900), examples=["15m"])
    """How long a pod may take until its node serves, with the time that Kubernetes needs to add a machine. A job whose
    nodes do not come by then goes back into the queue. Of several NodeSets, the longest holds for all."""


class NodeSet(Section):
    """Equal Slurm nodes: `<NodeSet>-0`, `<NodeSet>-1` and so on, one worker pod each."""

    size: NodeCount = Field(default=1, examples=[4])
    """How many nodes run, or with `autoscale` how many may run. 0 keeps the NodeSet's definition and runs none."""

    autoscale: Autoscale | None = Field(default=None, examples=[{"min": 1, "idle": "10m"}])
    """Run as many nodes as there is work for, up to `size`. Then `pulumi up` leaves the number of pods alone."""

    node_filter: FilterName = Field(default="compute", examples=["compute"])
    """The node filter that the pods run under."""

    exclusive: Switch = Field(default=False, examples=[True])
    """No other NodeSet runs on the same Kubernetes nodes: the policy pack refuses node filters that could overlap."""

    kind: Kind = Field(default="static", examples=["static"])
    """`static` nodes stand in slurm.conf; `dynamic` ones make themselves known when they start (`slurmd -Z`)."""

    max_size: NodeCount | None = Field(default=None, examples=[64])
    """For dynamic NodeSets: how many nodes there may ever be, which Slurm must know when it starts. At least `size`."""

    cpus: CpuCount = Field(default=1, examples=[64])
    """CPUs of each node: what the pod asks Kubernetes for, and what Slurm hands out."""

    memory: MemorySize = Field(default=MemorySize.parse("1Gi"), examples=["240Gi"])
    """Memory of each node: what the pod asks Kubernetes for and is limited to."""

    real_memory: MemorySize | None = Field(default=None, examples=["230Gi"])
    """Memory that Slurm may hand out to jobs (RealMemory). If left out, all of `memory`."""

    sockets: CpuCount | None = Field(default=None, examples=[2])
    """Sockets of each node. Sockets x cores x threads must be `cpus`; if none is stated, each CPU is a core."""

    cores_per_socket: CpuCount | None = Field(default=None, examples=[16])
    """Cores of each socket."""

    threads_per_core: CpuCount | None = Field(default=None, examples=[2])
    """Hardware threads of each core."""

    gpus: Gpus | None = Field(default=None, examples=[{"type": "h100", "count": 8}])
    """The GPUs of each node; none if left out."""

    gres: dict[GresName, Gres] = Field(default={}, examples=[{"fpga": {"count": 2, "file": "/dev/fpga[0-1]"}}])
    """Other generic resources of each node, by name."""

    features: list[Feature] = Field(default=[], examples=[["avx512", "ib"]])
    """What jobs may ask for with `--constraint`. The NodeSet's own name is always among them."""

    weight: Annotated[Integer, Field(ge=1, le=0xFFFFFFFD)] = Field(default=1, examples=[10])
    """Jobs get the nodes with the lowest weight first."""

    shared_memory: MemorySize | None = Field(default=None, examples=["32Gi"])
    """How large `/dev/shm` may grow, for all jobs of a node together; with `slurm.privateTmp` for each of them. What is
    in it counts as `memory` of the node. If left out: up to all of it, or with `privateTmp` half of the machine's."""

    limits: JobLimits = Field(default=JobLimits(), examples=[{"memlock": "unlimited", "stack": "unlimited"}])
    """What one process of a job may use at the most (`ulimit`)."""

    submounts: list[NodeSubmount] = Field(default=[], examples=[[{"mountPath": "/scratch", "hostPath": "/mnt/nvme"}]])
    """More volumes inside the shared root of these nodes alone, beside those of `storage.submounts`."""

    max_unavailable: CountOrPercent = Field(default=CountOrPercent(25, percent=True), examples=[1, "25%"])
    """How many nodes may be drained and restarted at a time when their pods must change."""

    grace_period: Interval = Field(default=Interval(60), examples=["60s"])
    """How long a pod may take to end before it is killed. Its jobs have been waited for by then (see `drain`)."""

    topology: Place | None = Field(default=None, examples=[{"switch": "rack1"}])
    """Where in the network the nodes are."""

    extra: Annotated[dict[NodeKey, SlurmValue], BeforeValidator(NODE_KEYS.once)] = Field(
        default={}, examples=[{"MemSpecLimit": 1024}], json_schema_extra=NODE_KEYS.json_schema
    )
    """Any other key of a NodeName line, by Slurm's name for it."""

    @property
    def always(self) -> int:
        """How many nodes run whether or not there is work for them."""
        return self.autoscale.min if self.autoscale else self.size

    @property
    def real_memory_mib(self) -> int:
        """RealMemory for slurm.conf, in MiB."""
        return (self.real_memory or self.memory).mib

    @property
    def capacity(self) -> int:
        """How many nodes Slurm must have room for."""
        return max(self.size, self.max_size or 0)
