"""For NodeSets whose place in the network is a label of their Kubernetes nodes: leave to read that label, no more."""

from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding

from components import pods
from components.access import ACCESS
from components.options import child
from config import Settings
from slurm.topology import before_label

PLACE = "/run/slipway"


class NodeLabel(pulumi.ComponentResource):
    """A service account that may look at Kubernetes nodes; only the init container that does so has its token."""

    def __init__(
        self,
        name: str,
        node_set: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:NodeLabel", f"{name}-{node_set}", None, opts)
        account = ServiceAccount(
            f"{name}-{node_set}-account",
            metadata={"name": node_set, "namespace": namespace},
            automount_service_account_token=False,
            opts=child(self),
        )
        whole = f"{settings.cluster.namespace}-{node_set}-node-label"  # cluster-wide, so that the namespace is in it
        role = ClusterRole(
            f"{name}-{node_set}-role",
            metadata={"name": whole},
            rules=[{"api_groups": [""], "resources": ["nodes"], "verbs": ["get"]}],
            opts=child(self),
        )
        ClusterRoleBinding(
            f"{name}-{node_set}-binding",
            metadata={"name": whole},
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role.metadata.name},
            subjects=[{"kind": "ServiceAccount", "name": account.metadata.name, "namespace": namespace}],
            opts=child(self, account),
        )
        self.account = account.metadata.name
        self.register_outputs({})


def init(settings: Settings, node_set: str, image: str, size: Any) -> Any:
    """Writes the node's `Topology=` for slurmd to register with."""
    wanted = settings.all_node_sets[node_set]
    label = wanted.topology.node_label if wanted.topology else None
    variables = {"NODE_LABEL": str(label), "TOPOLOGY": before_label(wanted)}
    node: Any = {"name": "K8S_NODE_NAME", "value_from": {"field_ref": {"field_path": "spec.nodeName"}}}
    return {
        "name": "node-label",
        "image": image,
        "command": [f"{pods.SCRIPTS}/node-label"],
        "env": [node, *pods.env(variables)],
        "resources": size,
        "security_context": pods.ROOT,
        "volume_mounts": [pods.RUN, ACCESS],
    }
