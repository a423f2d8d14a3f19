"""What rules read: resources as the engine shows them, the pods that workloads make, and the cluster they belong to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CLUSTER = "slipway:index:SlurmCluster"
STORAGE = "slipway:index:SharedStorage"
BRIDGE = "slipway:index:Bridge"
NODE_FILTER = "slipway/node-filter"
NODE_SET = "slipway/node-set"
ROLE = "app.kubernetes.io/name"
WORKER = "worker"

# Where in a workload's inputs the pod is.
_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Pod": (),
    "PodTemplate": ("template",),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    **dict.fromkeys(
        ("DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"), ("spec", "template")
    ),
}


@dataclass(frozen=True)
class Resource:
    """One resource as it is asked for. Numbers in its `props` are floats; to read an unknown value raises."""

    type: str
    name: str
    props: Mapping[str, Any]
    urn: str = ""
    parent: str = ""
    provider: str = ""
    protected: bool = False
    secret_outputs: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """A Kubernetes kind, also of its patch resource; of others the last word of the type."""
        return self.type.rpartition(":")[2].removesuffix("Patch")

    @property
    def of_kubernetes(self) -> bool:
        return self.type.startswith("kubernetes:") and not self.type.startswith("kubernetes:helm")

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Container:
    """One container of a pod, an init container or sidecar too."""

    name: str
    spec: Mapping[str, Any]

    @property
    def security(self) -> Mapping[str, Any]:
        return self.spec.get("securityContext") or {}


@dataclass(frozen=True)
class Pod:
    """The pod that a workload makes."""

    workload: Resource
    labels: Mapping[str, str]
    spec: Mapping[str, Any]

    def __str__(self) -> str:
        return str(self.workload)

    @property
    def role(self) -> str:
        """What the pod is for: controller, worker, login and so on; empty if it does not say."""
        return str(self.labels.get(ROLE, ""))

    @property
    def node_filter(self) -> str:
        """The filter that it names; empty if it names none."""
        return str(self.labels.get(NODE_FILTER, ""))

    @property
    def node_set(self) -> str:
        return str(self.labels.get(NODE_SET, ""))

    @property
    def containers(self) -> Iterator[Container]:
        for key in ("initContainers", "containers", "ephemeralContainers"):
            for each in self.spec.get(key) or ():
                yield Container(str(each.get("name", "")), each)

    @property
    def volumes(self) -> Sequence[Mapping[str, Any]]:
        return self.spec.get("volumes") or ()


@dataclass(frozen=True)
class Cluster:
    """A `SlurmCluster`, by what it declares."""

    name: str
    props: Mapping[str, Any]

    @property
    def stage(self) -> str:
        return str(self.props["stage"])

    @property
    def node_filters(self) -> Mapping[str, Mapping[str, Any]]:
        return self.props["nodeFilters"]

    @property
    def node_sets(self) -> Mapping[str, Mapping[str, Any]]:
        return self.props["nodeSets"]

    @property
    def roles(self) -> Mapping[str, str]:
        """The declared filter of each kind of pod that is no worker."""
        return self.props["roles"]

    @property
    def lent(self) -> Mapping[str, Any]:
        """Machines that the bridge may give to pods: `nodeSets` by name, and a `selector` of nodes without workers."""
        return self.props["lent"]

    def declared_filter(self, pod: Pod) -> str | None:
        """The filter that the stack config gives to such a pod; None if it knows no such pod."""
        if pod.role == WORKER:
            return (self.node_sets.get(pod.node_set) or {}).get("nodeFilter")
        return self.roles.get(pod.role)


@dataclass
class Stack:
    """What was seen of the stack so far. A component comes before its parts, so that they find what it declares."""

    components: dict[str, Resource] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)

    def add(self, resource: Resource) -> None:
        if resource.type.startswith("slipway:"):
            self.components[resource.urn] = resource

    def above(self, resource: Resource) -> Iterator[Resource]:
        """The components that a resource is part of, from the nearest up."""
        urn = resource.parent
        while found := self.components.get(urn):
            yield found
            urn = found.parent

    def cluster_of(self, resource: Resource) -> Cluster | None:
        for each in (resource, *self.above(resource)):
            if each.type == CLUSTER:
                return Cluster(each.name, each.props)
        return None


def pod_of(resource: Resource) -> Pod | None:
    """The pod that a workload makes, if it is one."""
    path = _TEMPLATES.get(resource.kind) if resource.of_kubernetes else None
    if path is None:
        return None
    template: Any = resource.props
    for key in path:
        template = template.get(key) or {}
    return Pod(resource, (template.get("metadata") or {}).get("labels") or {}, template.get("spec") or {})


def plain(value: Any) -> Any:
    """A value to compare and show: lists and dicts of its own, whole numbers as such. An unknown inside raises.

    Keys are sorted: they come from the engine in an order that differs from run to run."""
    if isinstance(value, Mapping):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
