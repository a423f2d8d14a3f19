"""`Accounting`: slurmdbd, its database unless there is one, and the commands that tell it of accounts and QoS."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_command.local import Command
from pulumi_kubernetes.apps.v1 import StatefulSet
from pulumi_kubernetes.core.v1 import ConfigMap, PodSpecArgsDict, Service, VolumeArgsDict, VolumeMountArgsDict

from components import pods
from components.change import Change
from components.database import Database
from components.options import NO_WAIT, child, kept
from components.secrets import ClusterSecrets
from components.storage import own_claim, volume_source
from config import Settings
from slurm import places
from slurm.accounts import declared

CONFIG_MAP = "slurmdbd-config"
CONF = "slurmdbd.conf"
IDLE_MIB = 128
ARCHIVE_CLAIM = "accounting-archive"
ARCHIVE_FOLDER = "slurmdbd"  # on the volume, whose root belongs to others


class Accounting(pulumi.ComponentResource):
    """One pod `accounting-0`. Its file is in a ConfigMap of its own, so that it runs before slurmctld hears of it:
    slurmctld does not start where nobody can tell it which resources there are.

    `declared`: slurmdbd answers, and has all that the stack declares. Then slurmctld may name it.
    `settle_after`: what the stack declares no more is gone."""

    stateful_set: StatefulSet
    declared: Command

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        conf: str,
        change: Change,
        after: Sequence[pulumi.Resource] = (),
        users: Sequence[pulumi.Resource] = (),
        keeper: pulumi.ProviderResource | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Accounting", name, None, opts)
        self._name, self._namespace, self._settings, self._change = name, namespace, settings, change
        labels = pods.labels(settings, places.ACCOUNTING)
        node_filter = settings.accounting.node_filter
        own = settings.accounting.database is None
        database = Database(name, settings, namespace, secrets, after, keeper, child(self)) if own else None
        Service(
            f"{name}-accounting",
            metadata={"name": places.ACCOUNTING, "namespace": namespace, "annotations": NO_WAIT},
            spec={
                "cluster_ip": "None",
                # Users' commands and slurmctld try again by themselves; a name that is not there they wait long for.
                "publish_not_ready_addresses": True,
                "selector": labels,
                "ports": [{"name": "slurmdbd", "port": places.SLURMDBD_PORT}],
            },
            opts=child(self),
        )
        config_map = ConfigMap(
            f"{name}-slurmdbd-config",
            metadata={"name": CONFIG_MAP, "namespace": namespace},
            data={CONF: conf},
            opts=child(self, *after),
        )
        self.stateful_set = StatefulSet(
            f"{name}-accounting",
            metadata={"name": places.ACCOUNTING, "namespace": namespace, "labels": labels, "annotations": NO_WAIT},
            spec={
                "service_name": places.ACCOUNTING,
                "pod_management_policy": "Parallel",
                "replicas": 1,
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": pods.template_metadata(
                        settings,
                        places.ACCOUNTING,
                        node_filter,
                        {
                            # It reads its file only when it starts, so that another file is another pod.
                            "slipway/config": hashlib.sha256(conf.encode()).hexdigest()[:16],
                            "slipway/auth-key": secrets.auth_key,
                            **({"slipway/jwt-key": secrets.jwt_key} if settings.rest.enabled else {}),
                            **({"slipway/password": database.password} if database else {}),
                        },
                    ),
                    "spec": _pod(settings, secrets, database.secret if database else None),
                },
            },
            opts=child(self, config_map, *after, *self._archive(keeper)),
        )
        # Users first: an association of a user who is unknown to slurmctld would be of no use for an hour.
        self.declared = self._command("accounts", self.stateful_set, *users)
        self.register_outputs({})

    def settle_after(self, *after: pulumi.Resource) -> Command:
        """Once no file of slurmctld's names what goes."""
        return self._command("settle-accounts", self.declared, *after)

    def _archive(self, keeper: pulumi.ProviderResource | None) -> Sequence[pulumi.Resource]:
        archive, opts = self._settings.accounting.archive, kept(self, keeper)
        if not archive.records:
            return []
        return own_claim(f"{self._name}-archive", ARCHIVE_CLAIM, self._namespace, archive.storage, opts)

    def _command(self, what: str, *after: pulumi.Resource) -> Command:
        line = f"operations/run {what}"
        things = json.dumps(declared(self._settings), indent=1)
        return Command(
            f"{self._name}-{what}",
            create=line,
            update=line,
            environment={
                "SLIPWAY_NAMESPACE": self._namespace,
                "SLIPWAY_CLUSTER": self._settings.cluster.name,
                # Another slurmdbd is waited for, whatever else changes; and what an update has left is put right.
                "SLIPWAY_GENERATION": self.stateful_set.metadata.apply(lambda each: str(each.generation)),
                "SLIPWAY_REPAIRS": str(self._change.repairs),
            },
            stdin=things,
            add_previous_output_in_env=False,
            opts=child(self, *after),
        )


def _pod(settings: Settings, secrets: ClusterSecrets, own: pulumi.Input[str] | None) -> PodSpecArgsDict:
    accounting, database = settings.accounting, settings.accounting.database
    image = settings.images.reference("accounting")
    size = pods.bursting(IDLE_MIB, accounting.cpus, accounting.memory)
    munge = settings.cluster.auth == "munge"
    host, port = (
        (database.host, database.port) if database else (places.pod(settings, places.DATABASE), places.MARIADB_PORT)
    )
    volumes: list[VolumeArgsDict] = [
        {"name": "config", "config_map": {"name": CONFIG_MAP}},
        {"name": "etc", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
        {"name": "tmp", "empty_dir": {"size_limit": "64Mi"}},
        _password(settings, own),
        *pods.key_volumes(secrets.daemons, pods.keys_for(settings, *(["jwt.key"] if settings.rest.enabled else []))),
    ]
    mounts: list[VolumeMountArgsDict] = [
        {"name": "config", "mount_path": "/mnt/config", "read_only": True},
        {"name": "password", "mount_path": "/mnt/password", "read_only": True},
        {"name": "etc", "mount_path": "/etc/slurm"},
        {"name": "tmp", "mount_path": "/tmp"},  # noqa: S108 -- a volume of the pod's own
        *pods.OWN_KEYS,
        pods.RUN,
    ]
    init: list[Any] = [pods.munge_sidecar(image, pods.RESTRICTED)] if munge else []
    if database and database.ca_secret:
        ca = database.ca_secret
        folder, _, file = places.DATABASE_CA.rpartition("/")
        volumes.append({"name": "ca", "secret": {"secret_name": ca.name, "items": [{"key": ca.key, "path": file}]}})
        mounts.append({"name": "ca", "mount_path": folder, "read_only": True})
    if accounting.archive.records:
        init.insert(
            0, pods.own_folder("archive", image, pods.resources(str(accounting.cpus), f"{IDLE_MIB}Mi"), ARCHIVE_FOLDER)
        )
        volumes.append({**volume_source(ARCHIVE_CLAIM, accounting.archive.storage), "name": "archive"})
        mounts.append({"name": "archive", "mount_path": places.ARCHIVE, "sub_path": ARCHIVE_FOLDER})
    environment = {
        "SLURM_CLUSTER_NAME": settings.cluster.name,
        "SLURM_CONTROLLER": places.slurmctld(settings),
        "DATABASE": f"{host}/{port}",
        **pods.auth_env(settings),
    }
    slurmdbd: Any = {
        "name": "slurmdbd",
        "image": image,
        "env": pods.env(environment),
        "ports": [{"name": "slurmdbd", "container_port": places.SLURMDBD_PORT}],
        "resources": size,
        "security_context": pods.RESTRICTED,
        "readiness_probe": {
            "exec_": {"command": [f"{pods.SCRIPTS}/slurmdbd-ready"]},
            "period_seconds": 10,
            "timeout_seconds": 5,
        },
        "volume_mounts": mounts,
    }
    return pods.placed(
        settings,
        accounting.node_filter,
        {
            "termination_grace_period_seconds": 60,
            "init_containers": init,
            "containers": [slurmdbd],
            "volumes": volumes,
        },
    )


def _password(settings: Settings, own: pulumi.Input[str] | None) -> VolumeArgsDict:
    """As one file, whatever key of which Secret it is."""
    database = settings.accounting.database
    name, key = (database.password_secret.name, database.password_secret.key) if database else (own, "password")
    items = [{"key": key, "path": "password"}]
    return {"name": "password", "secret": {"secret_name": name, "default_mode": 0o444, "items": items}}  # pyright: ignore
