"""`NodeSet`: equal worker pods behind one headless Service, each of them a Slurm node of the same name."""

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import StatefulSet
from pulumi_kubernetes.core.v1 import PodSpecArgsDict, Service

from components import node_label, pods
from components.access import token
from components.node_label import NodeLabel
from components.options import NO_WAIT, child
from components.secrets import ClusterSecrets
from components.storage import SharedStorage, empty_dir
from config import Settings
from config import node_sets as config
from slurm import places
from slurm.nodes import hardware
from slurm.render import line

# It mounts file systems, follows and limits the processes of jobs, and starts them as any user.
PRIVILEGED: Any = {"privileged": True, "run_as_user": 0}

# What slurmd needs where jobs and pods take turns.
LENT = {"cpu": "100m", "memory": "256Mi"}
# The taint by which the bridge keeps everyone else's pods off a lent machine, whatever its scheduler is called.
BRIDGED: Any = {"key": "slinky.slurm.net/managed-node", "operator": "Exists", "effect": "NoExecute"}


class NodeSet(pulumi.ComponentResource):
    """The workers `<name>-0`, `<name>-1` and so on."""

    dns: str
    stateful_set: StatefulSet

    def __init__(
        self,
        name: str,
        node_set: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        storage: SharedStorage,
        after: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:NodeSet", f"{name}-{node_set}", None, opts)
        self.dns = places.service(settings, node_set)
        wanted = settings.all_node_sets[node_set]
        labels = {**pods.labels(settings, "worker"), "slipway/node-set": node_set}
        Service(
            f"{name}-{node_set}",
            metadata={"name": node_set, "namespace": namespace, "annotations": NO_WAIT},
            spec={
                "cluster_ip": "None",
                # slurmctld looks a node up before its slurmd has registered.
                "publish_not_ready_addresses": True,
                "selector": labels,
                "ports": [{"name": "slurmd", "port": places.SLURMD_PORT}],
            },
            opts=child(self),
        )
        spec = _pod(node_set, wanted, settings, secrets, storage, labels)
        if wanted.topology and wanted.topology.node_label:
            account = NodeLabel(name, node_set, settings, namespace, child(self))
            spec["service_account_name"] = account.account
        keys = {"slipway/auth-key": secrets.auth_key}
        metadata = pods.template_metadata(settings, "worker", wanted.node_filter, keys)
        metadata["labels"]["slipway/node-set"] = node_set
        self.stateful_set = StatefulSet(
            f"{name}-{node_set}",
            metadata={"name": node_set, "namespace": namespace, "labels": labels, "annotations": NO_WAIT},
            spec={
                "service_name": node_set,
                "replicas": wanted.always,
                "pod_management_policy": "Parallel",
                # A changed pod takes effect by restarts that drain first and count `maxUnavailable`.
                "update_strategy": {"type": "OnDelete"},
                "selector": {"match_labels": labels},
                "template": {"metadata": metadata, "spec": spec},
            },
            opts=_options(self, wanted, after),
        )
        self.register_outputs({"dns": self.dns})


def _options(
    parent: pulumi.Resource, node_set: config.NodeSet, after: Sequence[pulumi.Resource]
) -> pulumi.ResourceOptions:
    opts = child(parent, *after)
    if node_set.autoscale:
        opts.ignore_changes = ["spec.replicas"]  # slurmctld's, once it has set it
    return opts


def _pod(
    name: str,
    node_set: config.NodeSet,
    settings: Settings,
    secrets: ClusterSecrets,
    storage: SharedStorage,
    labels: dict[str, str],
) -> PodSpecArgsDict:
    image = settings.images.reference("worker")
    munge = settings.cluster.auth == "munge"
    gpus = {node_set.gpus.resource_name: str(node_set.gpus.count)} if node_set.gpus else {}
    size = pods.resources(str(node_set.cpus), node_set.memory)
    own: Any = pods.resources(str(node_set.cpus), node_set.memory, **gpus)
    if name in settings.bridge.lent:
        # Slurm sees to it that jobs and pods do not meet. Kubernetes would leave no room for pods beside a worker that
        # asks for the whole machine.
        own["requests"] = LENT
    environment = _environment(name, node_set, settings)
    init: list[Any] = [pods.munge_sidecar(image, pods.ROOT)] if munge else []
    volumes, jail = storage.on_nodes(name)
    private = settings.slurm.private_tmp
    labelled = bool(node_set.topology and node_set.topology.node_label)
    if labelled:
        init.append(node_label.init(settings, name, image, size))
    spec: Any = pods.placed(
        settings,
        node_set.node_filter,
        {
            "termination_grace_period_seconds": node_set.grace_period.seconds,
            "topology_spread_constraints": pods.spread(labels),
            "init_containers": init,
            "containers": [
                {
                    "name": "slurmd",
                    "image": image,
                    "env": environment,
                    "termination_message_path": pods.TERMINATION_LOG,
                    "ports": [{"name": "slurmd", "container_port": places.SLURMD_PORT}],
                    "resources": own,
                    "security_context": PRIVILEGED,
                    "lifecycle": {"pre_stop": {"exec_": {"command": ["/usr/local/sbin/stop"]}}},
                    # Until then it waits for slurmctld to know the node, for as long as it takes.
                    "startup_probe": {
                        "tcp_socket": {"port": places.SLURMD_PORT},
                        "period_seconds": 1,
                        "failure_threshold": 86400,
                    },
                    "readiness_probe": {"tcp_socket": {"port": places.SLURMD_PORT}, "period_seconds": 5},
                    "volume_mounts": [
                        {"name": "spool", "mount_path": places.SPOOL},
                        *([] if munge else pods.OWN_KEYS),
                        {"name": "job-tmp", "mount_path": "/mnt/tmp"},
                        {"name": "shm", "mount_path": "/dev/shm"},  # noqa: S108 -- jobs' own, larger than a container's
                        *([{"name": "job-private", "mount_path": places.PRIVATE}] if private else []),
                        pods.RUN,
                        *jail,
                    ],
                }
            ],
            "volumes": [
                {"name": "spool", "empty_dir": {}},
                {"name": "job-tmp", "empty_dir": {}},
                *([{"name": "job-private", "empty_dir": {}}] if private else []),
                {"name": "shm", "empty_dir": {"medium": "Memory", **empty_dir(node_set.shared_memory)}},
                *pods.key_volumes(secrets.daemons, pods.keys_for(settings), 0o400),
                *volumes,
                *([token()] if labelled else []),
            ],
        },
    )
    # Always: whoever turns the bridge on or off, or lends other machines, must not find workers thrown off theirs, or
    # locked out of them. Which machines are lent is not decided here.
    spec["tolerations"] = [*spec["tolerations"], BRIDGED]
    return spec


def _environment(name: str, node_set: config.NodeSet, settings: Settings) -> list[Any]:
    """What a worker is told about itself."""
    fields = {
        "K8S_POD_NAME": "metadata.name",
        "K8S_POD_NAMESPACE": "metadata.namespace",
        "K8S_NODE_NAME": "spec.nodeName",
    }
    plain = {
        "K8S_SERVICE_NAME": name,
        "SLURM_CLUSTER_NAME": settings.cluster.name,
        "SLURM_CONTROLLER": places.slurmctld(settings),
        "GRACE_SECONDS": str(node_set.grace_period.seconds),
        **pods.auth_env(settings),
    }
    plain |= pods.limits_env(node_set.limits)
    if scratch := [each.mount_path for each in node_set.submounts if each.empty_dir and not each.read_only]:
        plain["SCRATCH"] = " ".join(pods.JAIL + path for path in scratch)
    if node_set.autoscale:
        plain["AUTOSCALED"] = "yes"
    if node_set.kind == "dynamic":
        plain["SLURM_NODE_CONF"] = line(hardware(name, node_set))
    # Kubernetes puts the pod's name in for $(K8S_POD_NAME).
    plain["NODE_ADDRESS"] = f"$(K8S_POD_NAME).{places.service(settings, name)}"
    references = [{"name": key, "value_from": {"field_ref": {"field_path": path}}} for key, path in fields.items()]
    return [*references, *pods.env(plain)]
