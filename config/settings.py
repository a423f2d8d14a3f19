"""The whole stack config as one checked value."""

import pathlib
from collections.abc import Mapping
from functools import cached_property

from pydantic import Field

from config.accounting import Accounting
from config.bridge import Bridge
from config.cluster import Cluster
from config.controller import Controller
from config.drain import Drain
from config.health import Health
from config.images import DEPLOYED, Images, Role
from config.login import Login
from config.monitoring import Monitoring
from config.network import Network
from config.node_filters import NodeFilter, default_node_filters
from config.node_sets import NodeSet
from config.partitions import Partition, default_partitions
from config.paths import Path
from config.rest import Rest
from config.secrets import Secrets
from config.section import Section
from config.slurm import Slurm
from config.storage import Storage
from config.types import FilterName, NodeSetName, PartitionName
from config.users import Group, User

WORKER = "worker"  # the NodeSet that has a key of its own


class Settings(Section):
    """Everything that the `slipway:` keys of a stack file say."""

    cluster: Cluster = Field(default=Cluster())
    """Names that hold for everything in the stack."""

    node_filters: dict[FilterName, NodeFilter] = Field(default_factory=default_node_filters)
    """Named rules for where pods may run. If left out: `system` and `compute`, by the node label `slipway/role`."""

    controller: Controller = Field(default=Controller())
    """The pod that runs slurmctld."""

    worker: NodeSet = Field(default=NodeSet())
    """The NodeSet named `worker`. `size: 0` for none."""

    node_sets: dict[NodeSetName, NodeSet] = Field(default={})
    """More NodeSets, by name."""

    partitions: dict[PartitionName, Partition] = Field(default_factory=default_partitions)
    """Queues, by name. If left out: `main`, with all nodes."""

    login: Login = Field(default=Login())
    """The pods that users log in to."""

    storage: Storage = Field(default=Storage())
    """Where users' files live."""

    users: list[User] = Field(default=[])
    """Who may log in and run jobs."""

    groups: list[Group] = Field(default=[])
    """Groups that users share files and partitions by."""

    accounting: Accounting = Field(default=Accounting())
    """Who used what."""

    rest: Rest = Field(default=Rest())
    """Slurm's HTTP interface."""

    monitoring: Monitoring = Field(default=Monitoring())
    """Slurm's own numbers, for Prometheus."""

    network: Network = Field(default=Network())
    """Which connections the cluster's pods take, and which they open."""

    bridge: Bridge = Field(default=Bridge())
    """Kubernetes pods in Slurm's queue."""

    images: Images = Field(default=Images())
    """Which container image each kind of pod runs."""

    drain: Drain = Field(default=Drain())
    """How running jobs are waited for before their nodes go away."""

    health: Health = Field(default=Health())
    """How nodes are looked after, and what becomes of those that fail."""

    secrets: Secrets = Field(default=Secrets())
    """Keys that the cluster makes for itself."""

    slurm: Slurm = Field(default=Slurm())
    """How Slurm itself behaves."""

    @cached_property
    def all_node_sets(self) -> dict[str, NodeSet]:
        """Every NodeSet by name, `worker` first and the others in the order of the stack file."""
        return {WORKER: self.worker, **self.node_sets}

    @property
    def deployed(self) -> tuple[Role, ...]:
        """The roles whose images this cluster needs."""
        accounting = ("accounting",) if self.accounting.database else ("accounting", "database")
        return (
            *DEPLOYED,
            *(accounting if self.accounting.enabled else ()),
            *(("rest",) if self.rest.enabled else ()),
        )

    @property
    def bridge_namespace(self) -> str:
        """The namespace of the bridge's own pods."""
        return self.bridge.namespace or f"{self.cluster.namespace}-bridge"

    @property
    def bridge_partition(self) -> str | None:
        """The partition that the bridge's pods wait in; None only where there is no default either."""
        default = next((name for name, each in self.partitions.items() if each.default), None)
        return self.bridge.partition or default

    @staticmethod
    def path_of(node_set: str) -> Path:
        """Where in a stack file a NodeSet is."""
        return (WORKER,) if node_set == WORKER else ("nodeSets", node_set)

    @classmethod
    def load(cls, stack: Mapping[str, str], environment: Mapping[str, str]) -> "Settings":
        """Check a stack's whole config as the engine hands it over: `slipway:key` to a string or an object's JSON.

        What the stack leaves open is what the lab says, such as the images that it has built. ConfigProblems lists what
        is wrong."""
        from config.loading import load_stack  # it needs this module

        return load_stack(stack, environment)

    @classmethod
    def from_stack_file(cls, path: pathlib.Path, environment: Mapping[str, str] | None = None) -> "Settings":
        """Check the config in a `Pulumi.<stack>.yaml`, without the engine. With the environment of a lab, they get
        what it fills in, as in `load`."""
        from config.stack_file import load_stack_file  # it needs this module

        return load_stack_file(path, environment)
