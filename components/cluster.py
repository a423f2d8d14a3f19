"""`SlurmCluster`: everything that a stack deploys."""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import Namespace

from components.accounting import Accounting
from components.bridge import Bridge
from components.change import Change, deployed
from components.configuration import Configuration
from components.controller import Controller
from components.declared import declared
from components.login import Login
from components.monitoring import Monitoring
from components.network import NetworkPolicies, policies
from components.node_set import NodeSet
from components.options import child, kept
from components.rest import Rest
from components.secrets import ClusterSecrets
from components.storage import SharedStorage
from components.users import Users
from config import Settings
from slurm.partitions import members
from slurm.render import render


class SlurmCluster(pulumi.ComponentResource):
    """Composes the parts, in the order in which a deploy has to bring them up."""

    outputs: dict[str, object]

    def __init__(
        self,
        name: str,
        settings: Settings,
        change: Change | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        change = change or Change()
        # A changed file is an update of one object, and not a new object that every pod must restart for.
        provider = kubernetes.Provider(f"{name}-kubernetes", enable_config_map_mutable=True, enable_secret_mutable=True)
        keeper = None
        if settings.storage.retain:
            # For what holds data, and for nothing else: what an earlier stack has left is taken over.
            keeper = kubernetes.Provider(f"{name}-keeper", upsert_existing_objects=True)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(providers=[provider]))
        super().__init__("slipway:index:SlurmCluster", name, declared(settings), opts)
        inside = child(self)
        made = Namespace(
            name,
            metadata={
                "name": settings.cluster.namespace,
                # Workers and logins mount file systems.
                "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
            },
            opts=kept(self, keeper),
        )
        namespace = made.metadata.name
        if settings.network.policies:
            NetworkPolicies(name, settings, namespace, policies(settings), inside)
        files = render(settings)
        secrets = ClusterSecrets(name, settings, namespace, inside)
        storage = SharedStorage(name, settings, namespace, keeper, inside)
        users = Users(name, settings, namespace, storage, inside)
        configuration = Configuration(name, settings, files, namespace, change, secrets.auth_key, inside)
        prepared = [configuration.prepared]
        secrets.hand_out_after(*prepared)

        accounting = None
        if settings.accounting.enabled:
            conf, known = files["slurmdbd.conf"], [users.applied]
            accounting = Accounting(name, settings, namespace, secrets, conf, change, prepared, known, keeper, inside)

        def node_set(each: str, after: Sequence[pulumi.Resource]) -> NodeSet:
            return NodeSet(name, each, settings, namespace, secrets, storage, after, inside)

        # Pods of new nodes come before Slurm hears of them, and those of old ones go when it knows them no more.
        grown = {each: node_set(each, prepared) for each in settings.all_node_sets if each not in change.shrinking}
        # slurmctld starts, or hears of accounting, when slurmdbd answers and has all that slurm.conf names.
        declared_first = [accounting.declared] if accounting else []
        written = configuration.write_after([*(each.stateful_set for each in grown.values()), *declared_first])
        controller = Controller(name, settings, namespace, secrets, storage, [written], keeper, inside)
        applied = configuration.apply_after(controller.stateful_set)
        if accounting:
            accounting.settle_after(applied)
        shrunk = {each: node_set(each, [applied]) for each in settings.all_node_sets if each in change.shrinking}
        node_sets = {each: (grown | shrunk)[each] for each in settings.all_node_sets}
        token_key = secrets.jwt_key if settings.rest.enabled else None
        changed = [each.stateful_set for each in node_sets.values()]
        rolled = configuration.roll_after(changed, applied, token_key=token_key)
        if settings.monitoring.enabled:
            Monitoring(name, settings, namespace, change.kinds, inside)
        # Slurm's order for another version: first slurmctld, then slurmd, and then those who only ask.
        last = [rolled] if change.running else []
        login = Login(name, settings, namespace, secrets, storage, [users.applied, *last], inside)
        self.outputs = {
            "namespace": namespace,
            "ssh": login.ssh,
            "partitions": {each: members(settings, partition) for each, partition in settings.partitions.items()},
            "nodeSets": {each: node_set.dns for each, node_set in node_sets.items()},
            "files": files,
            "deployed": deployed(settings, change),
        }
        if settings.rest.enabled:
            rest = Rest(name, settings, files, namespace, [applied, *last], inside)
            self.outputs["rest"] = rest.url
            if settings.bridge.enabled:
                bridge = Bridge(name, settings, namespace, secrets, [rest.deployment], inside)
                self.outputs["bridge"] = bridge.namespace
        self.register_outputs(self.outputs)
