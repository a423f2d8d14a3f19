"""`Bridge`: Slurm Bridge, by which pods of chosen namespaces wait in Slurm's queue and run where Slurm says.

Three processes of SchedMD's, which Slipway starts and configures: admission hands pods to the scheduler, the scheduler
stands in Slurm's queue for them, and the controllers keep nodes and jobs in step. Slurm Bridge itself is not part of
this house: what is here keeps to the contracts of release 1.2."""

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_command.local import Command
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, Namespace, PodSpecArgsDict, Secret, ServiceAccount
from pulumi_kubernetes.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding

from components import bridge_files, bridge_rules, pods
from components.bridge_admission import BridgeAdmission
from components.bridge_pods import (
    ADMISSION,
    CONFIG,
    CONTROLLERS,
    SCHEDULER,
    SCHEDULER_CONFIG,
    TOKEN,
    admission,
    checksum,
    controllers,
    scheduler,
)
from components.bridge_steward import BridgeSteward
from components.disruption import one_at_a_time
from components.network import NetworkPolicies, of_the_bridge
from components.options import child
from components.power import GROUP
from components.secrets import ClusterSecrets
from config import Settings

AUTHENTICATION = "extension-apiserver-authentication-reader"  # a Role of Kubernetes' own, in kube-system


class Bridge(pulumi.ComponentResource):
    """In the order in which its parts need each other: who may do what, the token, the processes, and last of all the
    webhooks, which make the API server ask."""

    namespace: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        after: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Bridge", name, None, opts)
        self._name, self._settings = name, settings
        made = Namespace(
            f"{name}-bridge",
            metadata={
                "name": settings.bridge_namespace,
                "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
            },
            opts=child(self),
        )
        self.namespace = made.metadata.name
        if settings.network.policies:
            NetworkPolicies(f"{name}-bridge", settings, self.namespace, of_the_bridge(settings), child(self))
        lending = self._lending(namespace)
        token = Secret(
            f"{name}-{TOKEN}",
            metadata={"name": TOKEN, "namespace": self.namespace},
            # What is in it is the steward's.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["data", "stringData"]),
        )
        steward = BridgeSteward(
            name, settings, namespace, self.namespace, secrets, [token, lending, *after], child(self)
        ).deployment
        config, scheduler_config = bridge_files.config(settings), bridge_files.scheduler_config(settings)
        files = [
            self._file(CONFIG, "config.yaml", config),
            self._file(SCHEDULER_CONFIG, "scheduler-config.yaml", scheduler_config),
        ]
        door = BridgeAdmission(name, settings, self.namespace, child(self))
        read = checksum(config)
        whole = checksum(config, scheduler_config)
        before: list[pulumi.Resource] = [steward, lending, *files, *after]
        allowed = [
            *self._account(SCHEDULER, bridge_rules.SCHEDULER, bridge_rules.SCHEDULER_OWN),
            self._authentication(SCHEDULER),
        ]
        self._process(SCHEDULER, scheduler(settings), {"slipway/config": whole}, [*before, *allowed])
        allowed = self._account(CONTROLLERS, bridge_rules.CONTROLLERS, bridge_rules.CONTROLLERS_OWN)
        self._process(CONTROLLERS, controllers(settings), {"slipway/config": read}, [*before, *allowed])
        marks = {"slipway/config": read, "slipway/certificate": door.certificate}
        allowed = self._account(ADMISSION, bridge_rules.ADMISSION, [])
        answers = self._process(ADMISSION, admission(settings), marks, [*files, door.ready, *allowed])
        door.ask_after(answers)
        self.register_outputs({"namespace": self.namespace})

    def _lending(self, namespace: pulumi.Input[str]) -> Command:
        """Nothing, until it is taken away: everything that lends depends on it, and so it goes when nobody lends any
        more. Then it takes marks and taints off the machines, which would keep everyone else from them for ever."""
        return Command(
            f"{self._name}-bridge-lending",
            delete="operations/run return-nodes",
            environment={
                "SLIPWAY_NAMESPACE": namespace,
                "SLIPWAY_SCHEDULER": self._settings.bridge.scheduler_name,
            },
            opts=child(self),
        )

    def _file(self, name: str, key: str, text: str) -> ConfigMap:
        return ConfigMap(
            f"{self._name}-{name}",
            metadata={"name": name, "namespace": self.namespace},
            data={key: text},
            opts=child(self),
        )

    def _account(self, component: str, everywhere: Any, own: Any) -> list[pulumi.Resource]:
        """Who a process is, and what it may do: in the whole Kubernetes cluster, and in the bridge's own namespace."""
        name, whole = f"{self._name}-{component}", f"{self._settings.cluster.namespace}-{component}"
        account = ServiceAccount(
            name,
            metadata={"name": component, "namespace": self.namespace},
            automount_service_account_token=False,
            opts=child(self),
        )
        role = ClusterRole(name, metadata={"name": whole}, rules=everywhere, opts=child(self))
        made: list[pulumi.Resource] = [account]
        made.append(
            ClusterRoleBinding(
                name,
                metadata={"name": whole},
                role_ref={"api_group": GROUP, "kind": "ClusterRole", "name": role.metadata.name},
                subjects=self._subjects(component),
                opts=child(self),
            )
        )
        if own:
            metadata: Any = {"name": component, "namespace": self.namespace}
            at_home = Role(name, metadata=metadata, rules=own, opts=child(self))
            made.append(self._bound(name, metadata, component, at_home.metadata.name))
        return made

    def _authentication(self, component: str) -> RoleBinding:
        """How Kubernetes' own callers prove themselves: the scheduler asks them before it shows its metrics."""
        whole = f"{self._settings.cluster.namespace}-{component}"
        metadata: Any = {"name": whole, "namespace": "kube-system"}
        return self._bound(f"{self._name}-{component}-authentication", metadata, component, AUTHENTICATION)

    def _bound(self, name: str, metadata: Any, component: str, role: pulumi.Input[str]) -> RoleBinding:
        return RoleBinding(
            name,
            metadata=metadata,
            role_ref={"api_group": GROUP, "kind": "Role", "name": role},
            subjects=self._subjects(component),
            opts=child(self),
        )

    def _subjects(self, component: str) -> Any:
        return [{"kind": "ServiceAccount", "name": component, "namespace": self.namespace}]

    def _process(
        self,
        component: str,
        pod: PodSpecArgsDict,
        marks: dict[str, pulumi.Input[str]],
        after: Sequence[pulumi.Resource],
    ) -> Deployment:
        settings = self._settings
        labels = pods.labels(settings, component)
        one_at_a_time(self._name, component, settings, self.namespace, settings.bridge.replicas, self)
        return Deployment(
            f"{self._name}-{component}",
            metadata={"name": component, "namespace": self.namespace, "labels": labels},
            spec={
                "replicas": settings.bridge.replicas,
                # The next one serves before the last one goes.
                "strategy": {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}},
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": pods.template_metadata(settings, component, settings.bridge.node_filter, marks),
                    "spec": pod,
                },
            },
            opts=child(self, *after),
        )
