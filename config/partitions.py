"""`partitions`: queues over any NodeSets."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from config.section import Section
from config.slurm_keys import PARTITION_KEYS
from config.types import (
    AccountName,
    Choice,
    Count,
    CpuCount,
    Duration,
    Integer,
    Interval,
    MemorySize,
    SlurmValue,
    String,
    Switch,
    TresName,
    UserName,
)
from config.types.names import Named

ALL = "ALL"


def _members(value: Any) -> Any:
    """`ALL`, one name or a list of names: the model keeps a list."""
    if isinstance(value, str):
        return [ALL] if value.upper() == ALL else [value]
    return value


def _shouted(value: Any) -> Any:
    """YAML's older readers take a bare NO for false."""
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return value.upper() if isinstance(value, str) else value


def _spelled_out(value: Any) -> Any:
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


State = Annotated[Literal["UP", "DOWN", "DRAIN", "INACTIVE"], Choice()]
Exclusive = Annotated[Literal["NO", "NODE", "USER", "TOPO"], Choice()]
PreemptMode = Annotated[Literal["OFF", "CANCEL", "REQUEUE", "SUSPEND", "WITHIN"], Choice()]
Factor = Annotated[Integer, Field(ge=0, le=65533)]
OverSubscribe = Annotated[
    String,
    Named("NO, YES, FORCE, YES:n or FORCE:n", r"NO|(YES|FORCE)(:[1-9][0-9]{0,4})?", 12, ("NO", "FORCE:4")),
    BeforeValidator(_shouted),
    WithJsonSchema(
        {"type": "string", "pattern": r"^([Nn][Oo]|([Yy][Ee][Ss]|[Ff][Oo][Rr][Cc][Ee])(:[1-9][0-9]{0,4})?)$"}
    ),
]
PartitionKey = Annotated[String, AfterValidator(PARTITION_KEYS.check)]
Weight = Annotated[
    String,
    Named("a weight such as 1, 0.25 or 0.5G", r"[0-9]+(\.[0-9]+)?[KMGTPkmgtp]?", 32, ("0.25G",)),
    BeforeValidator(_spelled_out),
    WithJsonSchema({"type": ["number", "string"], "pattern": r"^[0-9]+(\.[0-9]+)?[KMGTPkmgtp]?$"}),
]
_MEMBER = r"^(ALL|[a-z]([-a-z0-9]*[a-z0-9])?)$"
Members = Annotated[
    list[Annotated[String, Named("a NodeSet name, or ALL", r"ALL|[a-z]([-a-z0-9]*[a-z0-9])?", 52, ("worker",))]],
    Field(min_length=1),
    BeforeValidator(_members),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "ALL"},
                {"type": "string", "pattern": _MEMBER},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]


class Partition(Section):
    """A queue, in Slurm's own words; a key that is left out keeps Slurm's default."""

    node_sets: Members = Field(default=[ALL], examples=[["worker", "gpu"], "ALL"])
    """The NodeSets whose nodes it may use, by name, or `ALL`. A NodeSet may be in several partitions."""

    default: Switch = Field(default=False, examples=[True])
    """Where jobs go that name no partition. Exactly one partition says true."""

    state: State = Field(default="UP", examples=["UP", "DRAIN"])
    """`UP`; `DOWN` queues and starts nothing; `DRAIN` takes no new jobs; `INACTIVE` does neither."""

    max_time: Duration = Field(default=Duration(None), examples=["1-00:00:00", "2h"])
    """The longest run time that a job may ask for."""

    default_time: Duration | None = Field(default=None, examples=["1h"])
    """The run time of jobs that ask for none; `maxTime` if left out."""

    priority_tier: Factor = Field(default=1, examples=[10])
    """Jobs of a higher tier are looked at first, and may preempt those of a lower one."""

    priority_job_factor: Factor = Field(default=1, examples=[100])
    """What the partition adds to its jobs' priority."""

    min_nodes: Count = Field(default=0, examples=[1])
    """The fewest nodes that a job may get."""

    max_nodes: Count | None = Field(default=None, examples=[16])
    """The most nodes that a job may get; unlimited if left out."""

    max_cpus_per_node: CpuCount | None = Field(default=None, examples=[56])
    """CPUs of a node that all jobs of this partition together may use."""

    def_mem_per_cpu: MemorySize | None = Field(default=None, examples=["2Gi"])
    """Memory for each CPU of a job that does not ask for memory. Only one of the `defMemPer…` keys."""

    def_mem_per_node: MemorySize | None = Field(default=None, examples=["16Gi"])
    """Memory on each node of a job that does not ask for memory."""

    def_mem_per_gpu: MemorySize | None = Field(default=None, examples=["64Gi"])
    """Memory for each GPU of a job that does not ask for memory."""

    def_cpu_per_gpu: CpuCount | None = Field(default=None, examples=[8])
    """CPUs for each GPU of a job that does not ask for CPUs."""

    max_mem_per_cpu: MemorySize | None = Field(default=None, examples=["8Gi"])
    """The most memory for each CPU of a job. Not together with `maxMemPerNode`."""

    max_mem_per_node: MemorySize | None = Field(default=None, examples=["200Gi"])
    """The most memory on each node of a job."""

    over_subscribe: OverSubscribe = Field(default="NO", examples=["NO", "FORCE:4"])
    """Whether jobs share CPUs: `NO`, `YES` if they ask for it, `FORCE` always; `:4` allows four at a time."""

    exclusive: Exclusive = Field(default="NO", examples=["USER"])
    """Whom a node is kept for: `NODE` one job, `USER` one user, `TOPO` one job on a whole switch or block."""

    preempt_mode: PreemptMode | None = Field(default=None, examples=["REQUEUE"])
    """What happens to jobs here that a higher tier preempts; the cluster's own setting if left out."""

    grace_time: Interval | None = Field(default=None, examples=["2m"])
    """How long a preempted job may go on after it was told."""

    allow_groups: list[UserName] = Field(default=[], examples=[["physics"]])
    """Only members of these groups may use it; everyone if empty."""

    allow_accounts: list[AccountName] = Field(default=[], examples=[["physics"]])
    """Only these accounts may use it; all if empty. Needs accounting."""

    deny_accounts: list[AccountName] = Field(default=[], examples=[["guests"]])
    """These accounts may not use it. Not together with `allowAccounts`. Needs accounting."""

    allow_qos: list[AccountName] = Field(default=[], examples=[["normal", "long"]])
    """Only jobs with one of these QoS may use it; all if empty. Needs accounting."""

    deny_qos: list[AccountName] = Field(default=[], examples=[["scavenge"]])
    """Jobs with one of these QoS may not use it. Not together with `allowQos`. Needs accounting."""

    qos: AccountName | None = Field(default=None, examples=["gpu-limits"])
    """The QoS whose limits hold for the partition as a whole. Needs accounting."""

    hidden: Switch = Field(default=False, examples=[True])
    """Do not show it in sinfo and squeue unless asked for."""

    root_only: Switch = Field(default=False, examples=[True])
    """Only root may submit jobs to it."""

    tres_billing_weights: dict[TresName, Weight] = Field(
        default={}, examples=[{"CPU": 1, "Mem": "0.25G", "GRES/gpu": 8}]
    )
    """What a job is billed for each resource, by TRES name."""

    extra: Annotated[dict[PartitionKey, SlurmValue], BeforeValidator(PARTITION_KEYS.once)] = Field(
        default={}, examples=[{"LLN": True}], json_schema_extra=PARTITION_KEYS.json_schema
    )
    """Any other key of a PartitionName line, by Slurm's name for it."""


def default_partitions() -> dict[str, Partition]:
    """One partition for everything."""
    return {"main": Partition(default=True)}
