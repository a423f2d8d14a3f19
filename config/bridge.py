"""`bridge`: Kubernetes pods that wait in Slurm's queue and run where Slurm says."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from config.section import Section
from config.types import (
    Choice,
    DnsLabel,
    FilterName,
    Integer,
    Interval,
    LabelKey,
    LabelValue,
    NodeSetName,
    ObjectName,
    PartitionName,
    SlurmName,
    Switch,
)

# In `partitions.<name>.nodeSets`: the nodes that the bridge itself makes known to Slurm. No NodeSet may have the name.
EXTERNAL = "bridge"

Operator = Annotated[Literal["In", "NotIn", "Exists", "DoesNotExist"], Choice()]
FailurePolicy = Annotated[Literal["Fail", "Ignore"], Choice()]
IssuerKind = Annotated[Literal["Issuer", "ClusterIssuer"], Choice()]


class Expression(Section):
    """One condition on the labels of a namespace, in Kubernetes' own words."""

    key: LabelKey = Field(examples=["team"])
    """The label."""

    operator: Operator = Field(examples=["In"])
    """What is asked of it."""

    values: list[LabelValue] = Field(default=[], examples=[["physics"]])
    """The values of `In` and `NotIn`; none for the others."""

    @model_validator(mode="after")
    def _values_where_they_mean_something(self) -> "Expression":
        """Kubernetes refuses a selector that says too little or too much."""
        if bool(self.values) != (self.operator in ("In", "NotIn")):
            raise PydanticCustomError("slipway", "needs `values` with In and NotIn, and none with the others", {})
        return self


class NamespaceSelector(Section):
    """Namespaces by their labels. All conditions hold."""

    match_labels: dict[LabelKey, LabelValue] = Field(default={}, examples=[{"slurm": "queue"}])
    """Labels that a namespace has, with these values."""

    match_expressions: list[Expression] = Field(
        default=[], examples=[[{"key": "team", "operator": "In", "values": ["physics"]}]]
    )
    """Further conditions."""

    @model_validator(mode="after")
    def _says_something(self) -> "NamespaceSelector":
        """An empty selector is one for every namespace of the Kubernetes cluster."""
        if not self.match_labels and not self.match_expressions:
            raise PydanticCustomError("slipway", "selects every namespace; name a label in matchLabels", {})
        return self


class Certificate(Section):
    """Who signs the certificate that the API server trusts the bridge's admission by."""

    issuer: ObjectName = Field(examples=["internal-ca"])
    """An issuer of cert-manager, which must be there."""

    kind: IssuerKind = Field(default="ClusterIssuer", examples=["Issuer"])
    """Its kind. An `Issuer` is one of the bridge's own namespace."""


class ExternalNodes(Section):
    """Kubernetes nodes without slurmd: the bridge makes them known to Slurm, which hands them out to pods alone."""

    selector: dict[LabelKey, LabelValue] = Field(min_length=1, examples=[{"pool": "batch"}])
    """Labels by which they are chosen, all of them. A node that gets the labels later is lent then."""

    max: Annotated[Integer, Field(ge=1, le=65536)] = Field(default=16, examples=[64])
    """How many there may be: Slurm must know when it starts."""


class Bridge(Section):
    """Kubernetes pods that wait in Slurm's queue and run where Slurm says. It talks to Slurm through `rest`."""

    enabled: Switch = Field(default=False, examples=[True])
    """Run it. Needs `rest.enabled`."""

    namespace: DnsLabel | None = Field(default=None, examples=["slurm-bridge"])
    """The namespace of its own pods, which is made for it; `<cluster.namespace>-bridge` if left out."""

    scheduler_name: DnsLabel = Field(default="slurm-bridge-scheduler", examples=["hpc-bridge"])
    """The `schedulerName` that pods get. Two clusters in one Kubernetes need two names."""

    managed_namespaces: list[DnsLabel] = Field(default=[], examples=[["batch"]])
    """Kubernetes namespaces whose pods go through Slurm. Either this or `managedNamespaceSelector`."""

    managed_namespace_selector: NamespaceSelector | None = Field(
        default=None, examples=[{"matchLabels": {"slurm": "queue"}}]
    )
    """The same by labels of namespaces, so that one that gets the label later is managed then."""

    partition: PartitionName | None = Field(default=None, examples=["bridge"])
    """The partition that pods wait in if they name none; the default partition if left out. All its nodes are lent."""

    node_sets: list[NodeSetName] = Field(default=[], examples=[["worker"]])
    """NodeSets whose machines are lent: Slurm gives each of them to a job of its own or to pods. One worker pod to a
    machine."""

    external_nodes: ExternalNodes | None = Field(default=None, examples=[{"selector": {"pool": "batch"}, "max": 64}])
    """Kubernetes nodes that are lent and run no worker. A partition has them by the name `bridge` in its `nodeSets`."""

    mcs_label: SlurmName = Field(default="kubernetes", examples=["kubernetes"])
    """The label of its jobs (MCS): on a node of theirs Slurm puts no other jobs, and the other way round."""

    replicas: Annotated[Integer, Field(ge=1, le=9)] = Field(default=1, examples=[2])
    """How many pods each of scheduler, controllers and admission has. One of them acts, the others stand by; all of
    admission's answer."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that its own pods run under."""

    failure_policy: FailurePolicy = Field(default="Fail", examples=["Ignore"])
    """What becomes of new pods in managed namespaces while admission does not answer: `Fail` refuses them, `Ignore`
    leaves them to Kubernetes' own scheduler, past Slurm. Other namespaces are never touched."""

    certificate: Certificate | None = Field(default=None, examples=[{"issuer": "internal-ca"}])
    """Have cert-manager make admission's certificate. If left out, one is made with the stack (`secrets.bridge`)."""

    token_lifespan: Interval = Field(default=Interval.parse("30d"), examples=["7d"])
    """For how long the bridge's token for Slurm is good. It gets the next one when half of it is over."""

    @property
    def lent(self) -> tuple[str, ...]:
        """NodeSets whose machines pods may get; none while it is off."""
        return tuple(self.node_sets) if self.enabled else ()

    @property
    def external(self) -> ExternalNodes | None:
        """Which nodes it makes known to Slurm; none while it is off."""
        return self.external_nodes if self.enabled else None
