"""`Caretaker`: who looks after nodes from beside slurmctld, and the leave that it needs for it: to look at Kubernetes
nodes and pods, and to end and label those of workers. A budget keeps these where they are until it lets go."""

from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import ContainerArgsDict, VolumeMountArgsDict
from pulumi_kubernetes.policy.v1 import PodDisruptionBudget
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components import pods
from components.access import ACCESS
from components.options import child
from components.power import GROUP
from config import Settings
from slurm import places

CARETAKER = "caretaker"
CHANGES = ["delete", "patch"]
RELEASED = "slipway/released"  # the label of a worker's pod that its machine can do without


class Caretaker(pulumi.ComponentResource):
    """What the controller's service account may do for it. Nodes may be changed only where reboots are asked for."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Caretaker", name, None, opts)
        whole = f"{settings.cluster.namespace}-{CARETAKER}"  # cluster-wide, so that the namespace is in it
        subjects: Any = [{"kind": "ServiceAccount", "name": account, "namespace": namespace}]
        verbs = ["list", *(["patch"] if settings.health.reboot else [])]
        machines = ClusterRole(
            f"{name}-caretaker-nodes",
            metadata={"name": whole},
            rules=[{"api_groups": [""], "resources": ["nodes"], "verbs": verbs}],
            opts=child(self),
        )
        ClusterRoleBinding(
            f"{name}-caretaker-nodes",
            metadata={"name": whole},
            role_ref={"api_group": GROUP, "kind": "ClusterRole", "name": machines.metadata.name},
            subjects=subjects,
            opts=child(self),
        )
        workers = Role(
            f"{name}-caretaker-pods",
            metadata={"name": CARETAKER, "namespace": namespace},
            rules=[
                {"api_groups": [""], "resources": ["pods"], "verbs": ["list"]},
                {"api_groups": [""], "resources": ["pods"], "resource_names": _workers(settings), "verbs": CHANGES},
            ],
            opts=child(self),
        )
        RoleBinding(
            f"{name}-caretaker-pods",
            metadata={"name": CARETAKER, "namespace": namespace},
            role_ref={"api_group": GROUP, "kind": "Role", "name": workers.metadata.name},
            subjects=subjects,
            opts=child(self),
        )
        PodDisruptionBudget(
            f"{name}-workers",
            metadata={"name": "workers", "namespace": namespace},
            spec={
                "max_unavailable": 0,
                "selector": {
                    "match_labels": pods.labels(settings, "worker"),
                    "match_expressions": [{"key": RELEASED, "operator": "DoesNotExist"}],
                },
                "unhealthy_pod_eviction_policy": "AlwaysAllow",  # slurmd is not up: there is nothing to lose
            },
            opts=child(self),
        )
        self.register_outputs({})


def _workers(settings: Settings) -> list[str]:
    """Worker pods by name. A rule without names would be one for all pods."""
    sets = settings.all_node_sets
    return [f"{name}-{number}" for name, each in sets.items() for number in range(each.size)] or ["none"]


def container(settings: Settings, image: str) -> ContainerArgsDict:
    """In slurmctld's pod, whose configuration and credentials it shares; and it moves with it."""
    health = settings.health
    told = {
        "PYTHONPATH": pods.SCRIPTS,
        "SLURMCTLD_PORT": str(places.SLURMCTLD_PORT),
        "STUCK_AFTER": str(health.stuck_after.seconds),
        **({"REPLACE_LOST": "yes"} if health.replace_lost else {}),
        **({"REBOOT_ANNOTATION": health.reboot.annotation} if health.reboot else {}),
    }
    own: list[VolumeMountArgsDict] = []
    if settings.cluster.auth == "slurm":
        own = [{"name": "keys", "mount_path": places.KEYS, "read_only": True}]
    return {
        "name": CARETAKER,
        "image": image,
        "command": ["python3", "-B", "-m", CARETAKER],
        "env": pods.env({**told, **pods.auth_env(settings)}),
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "500m", "memory": "256Mi"},  # for lists of thousands of nodes and pods
        },
        "security_context": pods.RESTRICTED,
        "volume_mounts": [{"name": "config", "mount_path": "/etc/slurm", "read_only": True}, pods.RUN, ACCESS, *own],
    }
