"""`SlurmCluster`: everything that a stack deploys."""

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import Namespace

from components.configuration import Configuration
from components.controller import Controller
from components.login import Login
from components.node_set import NodeSet
from components.options import child, kept
from components.secrets import ClusterSecrets
from components.storage import SharedStorage
from components.users import Users
from config import Settings
from slurm.partitions import members
from slurm.render import render


class SlurmCluster(pulumi.ComponentResource):
    """Composes the parts, in the order in which a deploy has to bring them up."""

    outputs: dict[str, object]

    def __init__(self, name: str, settings: Settings, opts: pulumi.ResourceOptions | None = None) -> None:
        # A changed file is an update of one object, and not a new object that every pod must restart for.
        provider = kubernetes.Provider(f"{name}-kubernetes", enable_config_map_mutable=True, enable_secret_mutable=True)
        keeper = None
        if settings.storage.retain:
            # For what holds data, and for nothing else: what an earlier stack has left is taken over.
            keeper = kubernetes.Provider(f"{name}-keeper", upsert_existing_objects=True)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(providers=[provider]))
        super().__init__("slipway:index:SlurmCluster", name, None, opts)
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
        files = render(settings)
        secrets = ClusterSecrets(name, settings, namespace, inside)
        storage = SharedStorage(name, settings, namespace, keeper, inside)
        users = Users(name, settings, namespace, storage, inside)
        configuration = Configuration(name, files, namespace, inside)
        controller = Controller(name, settings, namespace, secrets, storage, [configuration.config_map], keeper, inside)
        node_sets = {
            each: NodeSet(name, each, settings, namespace, secrets, storage, (), inside)
            for each in settings.all_node_sets
        }
        configuration.apply_after(
            settings, controller.stateful_set, {each: made.stateful_set for each, made in node_sets.items()}
        )
        login = Login(name, settings, namespace, secrets, storage, [users.applied], inside)
        self.outputs = {
            "namespace": namespace,
            "ssh": login.ssh,
            "partitions": {each: members(settings, partition) for each, partition in settings.partitions.items()},
            "nodeSets": {each: node_set.dns for each, node_set in node_sets.items()},
            "files": files,
        }
        self.register_outputs(self.outputs)
