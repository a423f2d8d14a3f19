"""`Controller`: slurmctld with its state on a volume of its own, and a placeholder that keeps room for it elsewhere."""

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment, StatefulSet
from pulumi_kubernetes.core.v1 import (
    ContainerArgsDict,
    PersistentVolumeClaim,
    PodSpecArgsDict,
    Service,
    VolumeArgsDict,
    VolumeMountArgsDict,
)
from pulumi_kubernetes.scheduling.v1 import PriorityClass

from components import caretaker, monitoring, pods
from components.access import ACCESS, token
from components.caretaker import Caretaker
from components.configuration import CONFIG_MAP
from components.disruption import one_at_a_time
from components.options import NO_WAIT, child, kept
from components.power import Power, autoscaled
from components.secrets import ClusterSecrets
from components.storage import SharedStorage, own_claim, volume_source
from config import Settings
from slurm import places

STATE_CLAIM = "controller-state"
STATE_FOLDER = "slurmctld"  # on the volume: its root may have a lost+found, and belongs to others
STANDBY = "controller-standby"
# /livez is answered also by a slurmctld that hangs in its own locks, as one does that is asked by `scancel --ctld`, or
# through slurmrestd, to end somebody else's job. A question about a job waits for them, and "no such job" is an answer.
ANSWER_SECONDS = 20
# A backup that waits is never ready, and is not asked: squeue would ask the other one.
READY_SECONDS = 5
ANSWERS = f"""
here() {{ curl -sf -o /dev/null --max-time {READY_SECONDS} "http://127.0.0.1:{places.SLURMCTLD_PORT}$1"; }}
here /readyz || {{ here /livez; exit; }}
timeout {ANSWER_SECONDS} squeue --noheader --jobs=1 > /dev/null 2>&1; [ $? -ne 124 ]
"""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Controller(pulumi.ComponentResource):
    """The pod `controller-0`, and its backup `controller-1`. Their files come from the ConfigMap, their users from the
    shared root."""

    stateful_set: StatefulSet

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        storage: SharedStorage,
        after: Sequence[pulumi.Resource] = (),
        keeper: pulumi.ProviderResource | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Controller", name, None, opts)
        Service(
            f"{name}-controller",
            metadata={"name": places.CONTROLLER, "namespace": namespace, "annotations": NO_WAIT},
            spec={
                "cluster_ip": "None",
                # Its name is needed while it starts, too: by itself, and by all who wait for it.
                "publish_not_ready_addresses": True,
                "selector": pods.labels(settings, places.CONTROLLER),
                "ports": [{"name": "slurmctld", "port": places.SLURMCTLD_PORT}],
            },
            opts=child(self),
        )
        state = self._state(name, settings, namespace, keeper)
        spec = self._pod(settings, secrets, storage)
        if autoscaled(settings) or settings.health.enabled:
            account = spec["service_account_name"] = Power(name, settings, namespace, child(self)).account
            if settings.health.enabled:
                Caretaker(name, settings, namespace, account, child(self))
        self.stateful_set = StatefulSet(
            f"{name}-controller",
            metadata={
                "name": places.CONTROLLER,
                "namespace": namespace,
                "labels": pods.labels(settings, places.CONTROLLER),
                "annotations": NO_WAIT,
            },
            spec={
                "service_name": places.CONTROLLER,
                "pod_management_policy": "Parallel",  # else a pod that never came up could not be mended
                "replicas": len(places.controllers(settings)),
                "selector": {"match_labels": pods.labels(settings, places.CONTROLLER)},
                "template": {
                    "metadata": pods.template_metadata(
                        settings,
                        places.CONTROLLER,
                        settings.controller.node_filter,
                        {
                            "slipway/auth-key": secrets.auth_key,
                            "slipway/jwt-key": secrets.jwt_key,
                            **monitoring.annotations(settings),
                        },
                    ),
                    "spec": spec,
                },
            },
            opts=child(self, *after, *state),
        )
        one_at_a_time(name, places.CONTROLLER, settings, namespace, len(places.controllers(settings)), self)
        if settings.controller.standby:
            self._standby(name, settings, namespace)
        self.register_outputs({})

    def _state(
        self, name: str, settings: Settings, namespace: pulumi.Input[str], keeper: pulumi.ProviderResource | None
    ) -> list[PersistentVolumeClaim]:
        """The claim that the queue lives on."""
        mode = "ReadWriteMany" if settings.controller.backup else "ReadWriteOnce"
        state, opts = settings.controller.state, kept(self, keeper)
        return own_claim(f"{name}-state", STATE_CLAIM, namespace, state, opts, mode)

    def _pod(self, settings: Settings, secrets: ClusterSecrets, storage: SharedStorage) -> PodSpecArgsDict:
        image = settings.images.reference("controller")
        size = pods.resources(str(settings.controller.cpus), settings.controller.memory)
        munge = settings.cluster.auth == "munge"
        init: list[ContainerArgsDict] = [pods.own_folder("state", image, size, STATE_FOLDER)]
        if munge:
            init.append(pods.munge_sidecar(image, pods.RESTRICTED, "32Mi"))
        # Users and groups are read from the shared root, and nothing is written. What is mounted inside it is left out.
        jail: list[VolumeMountArgsDict] = [{**storage.mounts[0], "read_only": True}]
        scales = bool(autoscaled(settings))
        volumes: list[VolumeArgsDict] = [
            {**volume_source(STATE_CLAIM, settings.controller.state), "name": "state"},
            {"name": "config", "config_map": {"name": CONFIG_MAP}},
            {"name": "tmp", "empty_dir": {"size_limit": "64Mi"}},
            {"name": "rehearsal", "empty_dir": {"size_limit": "256Mi"}},
            *pods.key_volumes(secrets.daemons, pods.keys_for(settings, "jwt.key")),
            storage.volumes[0],
            *([token()] if scales or settings.health.enabled else []),
            *([monitoring.volume()] if settings.monitoring.enabled else []),
        ]
        slurmctld: Any = {
            "name": "slurmctld",
            "image": image,
            "env": pods.env(pods.auth_env(settings)),
            "ports": [{"name": "slurmctld", "container_port": places.SLURMCTLD_PORT}],
            "resources": size,
            "security_context": pods.RESTRICTED,
            "startup_probe": {**_probe("/livez"), "period_seconds": 1, "failure_threshold": 300},
            "liveness_probe": {
                "exec_": {"command": ["sh", "-c", ANSWERS]},
                "period_seconds": 15,
                "timeout_seconds": ANSWER_SECONDS + 2 * READY_SECONDS,
                "failure_threshold": 4,
                "termination_grace_period_seconds": 30,  # what hangs saves nothing; what is only slow has time to
            },
            # One that waits to take over is never ready in Slurm's sense, and as it should be.
            "readiness_probe": {
                **_probe("/livez" if settings.controller.backup else "/readyz"),
                "period_seconds": 5,
                "timeout_seconds": 5,
            },
            "volume_mounts": [
                {"name": "state", "mount_path": places.STATE, "sub_path": STATE_FOLDER},
                {"name": "config", "mount_path": "/etc/slurm", "read_only": True},
                *pods.OWN_KEYS,
                {"name": "tmp", "mount_path": "/tmp"},  # noqa: S108 -- a volume of the pod's own
                pods.RUN,
                *jail,
                *([ACCESS] if scales else []),
            ],
        }
        beside = [_rehearsal(settings, image, munge, jail)]
        if settings.monitoring.enabled:
            beside.append(monitoring.container(settings, image))
        if settings.health.enabled:
            beside.append(caretaker.container(settings, image))
        spec = pods.placed(
            settings,
            settings.controller.node_filter,
            {
                # Time to save the state of a large cluster; it takes about two seconds for a small one.
                "termination_grace_period_seconds": 120,
                "init_containers": init,
                "containers": [slurmctld, *beside],
                "volumes": volumes,
            },
        )
        if settings.controller.standby:
            # It takes the standby's place, which ends for it. Kubernetes looks again at a pod that waits for this only
            # if the pod itself asks to be apart; without it, slurmctld would be away for five minutes.
            _keep_apart(spec, pods.labels(settings, STANDBY))
        if settings.controller.backup:
            _keep_apart(spec, pods.labels(settings, places.CONTROLLER))
        return spec

    def _standby(self, name: str, settings: Settings, namespace: pulumi.Input[str]) -> None:
        """A pod that does nothing where the controller is not: its room and its image are there when they are needed.

        It goes as soon as anything else wants the room, and then comes back wherever there is some."""
        priority = PriorityClass(
            f"{name}-standby",
            metadata={"name": f"{settings.cluster.namespace}-standby"},
            value=-10,
            preemption_policy="Never",
            description="Holds room for the controller of a Slurm cluster; anything else may take it.",
            opts=child(self),
        )
        spec = pods.placed(
            settings,
            settings.controller.node_filter,
            {
                "priority_class_name": priority.metadata.name,
                "termination_grace_period_seconds": 0,
                "containers": [
                    {
                        "name": "pause",
                        "image": settings.images.reference("controller"),
                        "command": ["sleep", "infinity"],
                        "resources": pods.resources(str(settings.controller.cpus), settings.controller.memory),
                        "security_context": pods.RESTRICTED,
                    }
                ],
            },
        )
        _keep_apart(spec, pods.labels(settings, places.CONTROLLER))
        Deployment(
            f"{name}-standby",
            metadata={
                "name": STANDBY,
                "namespace": namespace,
                "labels": pods.labels(settings, STANDBY),
                "annotations": NO_WAIT,  # where there is no second node it waits for one, and the cluster works
            },
            spec={
                "replicas": 1,
                # The old one goes first: where there is room for one only, the new one would wait for it for ever.
                "strategy": {"type": "Recreate"},
                "selector": {"match_labels": pods.labels(settings, STANDBY)},
                "template": {
                    "metadata": pods.template_metadata(settings, STANDBY, settings.controller.node_filter),
                    "spec": spec,
                },
            },
            opts=child(self),
        )


def _keep_apart(spec: PodSpecArgsDict, others: dict[str, str]) -> None:
    """Never on a node where a pod with these labels is, beside what the node filter says."""
    affinity: Any = spec.get("affinity", {})
    apart = affinity.get("podAntiAffinity", {})
    term = {"labelSelector": {"matchLabels": others}, "topologyKey": "kubernetes.io/hostname"}
    required = [*apart.get(REQUIRED, []), term]
    spec["affinity"] = {**affinity, "podAntiAffinity": {**apart, REQUIRED: required}}  # pyright: ignore[reportGeneralTypeIssues]


def _probe(path: str) -> Any:
    return {"http_get": {"path": path, "port": places.SLURMCTLD_PORT}}


def _rehearsal(settings: Settings, image: str, munge: bool, jail: list[VolumeMountArgsDict]) -> ContainerArgsDict:
    """Where new files are tried on a slurmctld that nobody uses, with memory of its own, so that whatever becomes of it
    the real one does not notice. It does nothing in between."""
    authentication: list[VolumeMountArgsDict] = [{**pods.RUN, "mount_path": "/run/munge", "sub_path": "munge"}]
    return {
        "name": "rehearsal",
        "image": image,
        "command": ["sh", "-c", "trap exit TERM; sleep infinity & wait"],  # it ends when it is told to
        "env": pods.env(pods.auth_env(settings)),
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": str(settings.controller.cpus), "memory": f"{settings.controller.memory.mib}Mi"},
        },
        "security_context": pods.RESTRICTED,
        "volume_mounts": [
            {"name": "rehearsal", "mount_path": "/tmp", "sub_path": "tmp"},  # noqa: S108 -- a volume of its own
            {"name": "rehearsal", "mount_path": "/run", "sub_path": "run"},
            {"name": "keys", "mount_path": places.KEYS, "read_only": True},
            *(authentication if munge else []),
            *jail,
        ],
    }
