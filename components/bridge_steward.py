"""The bridge's steward: keeps its token for Slurm fresh, and tells it by labels which machines are lent.

A pod of the cluster's own, since it has the key that signs tokens; the bridge gets only tokens."""

from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import PodSpecArgsDict, ServiceAccount
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components import bridge_files, bridge_rules, pods
from components.access import ACCESS, token
from components.bridge_pods import CONTROLLERS, SCHEDULER, TOKEN, TOKEN_KEY
from components.options import child
from components.power import GROUP
from components.secrets import ClusterSecrets
from config import Settings
from slurm import places

STEWARD = "bridge-steward"
READERS = [SCHEDULER, CONTROLLERS]  # of the token, once, when they start
READY = "/run/steward/ready"


class BridgeSteward(pulumi.ComponentResource):
    """Its pod is ready when the token is there."""

    deployment: Deployment

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        bridge_namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        after: list[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:BridgeSteward", name, None, opts)
        account = ServiceAccount(
            f"{name}-{STEWARD}",
            metadata={"name": STEWARD, "namespace": namespace},
            automount_service_account_token=False,
            opts=child(self),
        )
        subjects: Any = [{"kind": "ServiceAccount", "name": account.metadata.name, "namespace": namespace}]
        allowed: list[pulumi.Resource] = [
            self._in(name, TOKEN, bridge_namespace, bridge_rules.steward(TOKEN, READERS), subjects),
            self._in(name, STEWARD, namespace, bridge_rules.STEWARD_PODS, subjects),
        ]
        whole = f"{settings.cluster.namespace}-{STEWARD}"  # cluster-wide, so that the namespace is in it
        machines = ClusterRole(
            f"{name}-{STEWARD}",
            metadata={"name": whole},
            rules=bridge_rules.STEWARD_NODES,  # pyright: ignore[reportArgumentType]
            opts=child(self),
        )
        allowed.append(
            ClusterRoleBinding(
                f"{name}-{STEWARD}",
                metadata={"name": whole},
                role_ref={"api_group": GROUP, "kind": "ClusterRole", "name": machines.metadata.name},
                subjects=subjects,
                opts=child(self),
            )
        )
        labels = pods.labels(settings, STEWARD)
        # Once it has a new key, it makes a token that is signed with it.
        keys = {"slipway/jwt-key": secrets.jwt_key}
        self.deployment = Deployment(
            f"{name}-{STEWARD}",
            metadata={"name": STEWARD, "namespace": namespace, "labels": labels},
            spec={
                "replicas": 1,
                "strategy": {"type": "Recreate"},
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": pods.template_metadata(settings, STEWARD, settings.bridge.node_filter, keys),
                    "spec": _pod(settings, secrets),
                },
            },
            opts=child(self, *allowed, *after),
        )
        self.register_outputs({})

    def _in(self, name: str, what: str, namespace: pulumi.Input[str], rules: Any, subjects: Any) -> RoleBinding:
        """Leave for what it does in one namespace."""
        role = Role(
            f"{name}-steward-{what}",
            metadata={"name": what, "namespace": namespace},
            rules=rules,
            opts=child(self),
        )
        return RoleBinding(
            f"{name}-steward-{what}",
            metadata={"name": what, "namespace": namespace},
            role_ref={"api_group": GROUP, "kind": "Role", "name": role.metadata.name},
            subjects=subjects,
            opts=child(self),
        )


def _pod(settings: Settings, secrets: ClusterSecrets) -> PodSpecArgsDict:
    bridge, external = settings.bridge, settings.bridge.external_nodes
    told = {
        "PYTHONPATH": pods.SCRIPTS,
        "BRIDGE_NAMESPACE": settings.bridge_namespace,
        "TOKEN_OBJECT": TOKEN,
        "TOKEN_KEY": TOKEN_KEY,
        "TOKEN_SECONDS": str(bridge.token_lifespan.seconds),
        "JWT_KEY": f"{places.KEYS}/jwt.key",
        "READERS": ",".join(READERS),
        "READY": READY,
        "SLURMRESTD": bridge_files.slurmrestd(settings),
        "NODE_SETS": ",".join(bridge.node_sets),
        "PARTITION": str(settings.bridge_partition),
        **({"EXTERNAL": ",".join(f"{key}={value}" for key, value in external.selector.items())} if external else {}),
    }
    keys: Any = {
        "secret_name": secrets.daemons,
        "default_mode": 0o444,  # Kubernetes gives it to root, and nobody else is in this pod
        "items": [{"key": "jwt.key", "path": "jwt.key"}],
    }
    container: Any = {
        "name": "steward",
        "image": settings.images.reference("controller"),
        "command": ["python3", "-B", "-m", "steward"],
        "env": pods.env(told),
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "500m", "memory": "256Mi"},  # for lists of thousands of nodes and pods
        },
        "security_context": pods.RESTRICTED,
        "readiness_probe": {"exec_": {"command": ["test", "-e", READY]}, "period_seconds": 1, "timeout_seconds": 5},
        "volume_mounts": [
            {"name": "run", "mount_path": "/run/steward"},
            {"name": "secret", "mount_path": places.KEYS, "read_only": True},
            ACCESS,
        ],
    }
    return pods.placed(
        settings,
        bridge.node_filter,
        {
            "service_account_name": STEWARD,
            "containers": [container],
            "volumes": [
                {"name": "run", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
                {"name": "secret", "secret": keys},
                token(),
            ],
        },
    )
