"""`Database`: MariaDB for slurmdbd, where the stack names no other, with its data on a volume of its own."""

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import StatefulSet
from pulumi_kubernetes.core.v1 import PodSpecArgsDict, SecurityContextArgsDict, Service

from components import pods
from components.options import NO_WAIT, child, kept
from components.secrets import ClusterSecrets
from components.storage import own_claim, volume_source
from config import Settings
from config.accounting import Mariadb
from slurm import places

CLAIM = "database"
FOLDER = "mariadb"  # on the volume: its root may have a lost+found, and belongs to others
MYSQL_ID = 64031  # the image's fixed uid and gid of the user mysql
RESTRICTED: SecurityContextArgsDict = {**pods.RESTRICTED, "run_as_user": MYSQL_ID, "run_as_group": MYSQL_ID}


class Database(pulumi.ComponentResource):
    """One pod `database-0`, which gives slurmdbd the password of a Secret whenever it starts."""

    secret: pulumi.Output[str]
    password: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        after: Sequence[pulumi.Resource] = (),
        keeper: pulumi.ProviderResource | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Database", name, None, opts)
        labels = pods.labels(settings, places.DATABASE)
        node_filter = settings.accounting.node_filter
        own = settings.accounting.mariadb
        self.secret, self.password = secrets.database()
        Service(
            f"{name}-database",
            metadata={"name": places.DATABASE, "namespace": namespace, "annotations": NO_WAIT},
            spec={
                "cluster_ip": "None",
                "publish_not_ready_addresses": True,
                "selector": labels,
                "ports": [{"name": "mariadb", "port": places.MARIADB_PORT}],
            },
            opts=child(self),
        )
        claims = own_claim(f"{name}-database", CLAIM, namespace, own.storage, kept(self, keeper))
        StatefulSet(
            f"{name}-database",
            metadata={"name": places.DATABASE, "namespace": namespace, "labels": labels, "annotations": NO_WAIT},
            spec={
                "service_name": places.DATABASE,
                "pod_management_policy": "Parallel",  # else a pod that never came up could not be mended
                "replicas": 1,
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": pods.template_metadata(
                        settings, places.DATABASE, node_filter, {"slipway/password": self.password}
                    ),
                    "spec": _pod(settings, own, self.secret),
                },
            },
            opts=child(self, *after, *claims),
        )
        self.register_outputs({})


def _pod(settings: Settings, own: Mariadb, secret: pulumi.Input[str]) -> PodSpecArgsDict:
    image = settings.images.reference("database")
    size = pods.resources(str(own.cpus), own.memory)
    mariadbd: Any = {
        "name": "mariadbd",
        "image": image,
        # The other half is for connections, sorting and its own programs.
        "env": pods.env({"BUFFER_POOL": f"{own.memory.mib // 2}M"}),
        "ports": [{"name": "mariadb", "container_port": places.MARIADB_PORT}],
        "resources": size,
        "security_context": RESTRICTED,
        # Not by a connection to its port, which it would take for a client that failed. And it is never killed for
        # being slow: after a crash it may need long to put its data right.
        "readiness_probe": {
            "exec_": {"command": ["mariadb-admin", "--silent", "ping"]},
            "period_seconds": 10,
            "timeout_seconds": 5,
        },
        "volume_mounts": [
            {"name": "data", "mount_path": "/var/lib/mysql", "sub_path": FOLDER},
            {"name": "password", "mount_path": "/mnt/password", "read_only": True},
            pods.RUN,
            {"name": "tmp", "mount_path": "/tmp"},  # noqa: S108 -- a volume of the pod's own
        ],
    }
    return pods.placed(
        settings,
        settings.accounting.node_filter,
        {
            "termination_grace_period_seconds": 120,  # to write what is in memory
            "init_containers": [pods.own_folder("data", image, size, FOLDER, MYSQL_ID)],
            "containers": [mariadbd],
            "volumes": [
                {**volume_source(CLAIM, own.storage), "name": "data"},
                {"name": "password", "secret": {"secret_name": secret, "default_mode": 0o444}},
                {"name": "run", "empty_dir": {"medium": "Memory", "size_limit": "16Mi"}},
                {"name": "tmp", "empty_dir": {"size_limit": "1Gi"}},
            ],
        },
    )
