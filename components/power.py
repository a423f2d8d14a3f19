"""`Power`: the controller's service account, with leave to start and stop the pods of autoscaled NodeSets."""

import pulumi
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.meta.v1 import ObjectMetaArgsDict
from pulumi_kubernetes.rbac.v1 import Role, RoleBinding

from components.options import child
from config import Settings
from slurm import places

GROUP = "rbac.authorization.k8s.io"


def autoscaled(settings: Settings) -> list[str]:
    """The NodeSets whose pods Slurm starts and stops."""
    return [name for name, each in settings.all_node_sets.items() if each.autoscale]


def _pods(settings: Settings) -> list[str]:
    sets = settings.all_node_sets
    return [f"{name}-{number}" for name in autoscaled(settings) for number in range(sets[name].always, sets[name].size)]


class Power(pulumi.ComponentResource):
    """It may set `replicas` of these StatefulSets and end their pods, by their names: it can neither make a pod that is
    not in their templates nor reach into one. Without such NodeSets it may do nothing."""

    account: pulumi.Output[str]

    def __init__(
        self, name: str, settings: Settings, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("slipway:index:Power", name, None, opts)
        metadata: ObjectMetaArgsDict = {"name": places.CONTROLLER, "namespace": namespace}
        account = ServiceAccount(
            f"{name}-controller", metadata=metadata, automount_service_account_token=False, opts=child(self)
        )
        if autoscaled(settings):
            self._leave(name, settings, namespace, account)
        self.account = account.metadata.name
        self.register_outputs({"account": self.account})

    def _leave(self, name: str, settings: Settings, namespace: pulumi.Input[str], account: ServiceAccount) -> None:
        named: ObjectMetaArgsDict = {"name": "power", "namespace": namespace}
        role = Role(
            f"{name}-power",
            metadata=named,
            rules=[
                {
                    "api_groups": ["apps"],
                    "resources": ["statefulsets/scale"],
                    "resource_names": autoscaled(settings),
                    "verbs": ["get", "patch"],
                },
                # To start the pod of a node anew that Slurm has stopped, and that others keep in its place.
                {"api_groups": [""], "resources": ["pods"], "resource_names": _pods(settings), "verbs": ["delete"]},
            ],
            opts=child(self),
        )
        RoleBinding(
            f"{name}-power",
            metadata=named,
            role_ref={"api_group": GROUP, "kind": "Role", "name": role.metadata.name},
            subjects=[{"kind": "ServiceAccount", "name": account.metadata.name, "namespace": namespace}],
            opts=child(self),
        )
