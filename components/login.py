"""`Login`: the pods that users ssh into, and the Service that they are reached by."""

from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import StatefulSet
from pulumi_kubernetes.core.v1 import PodSpecArgsDict, Service

from components import pods, services
from components.disruption import one_at_a_time
from components.options import NO_WAIT, child
from components.secrets import ClusterSecrets
from components.storage import SharedStorage
from config import Settings
from slurm import places

LOGIN = "login"
PODS = "login-pods"  # the headless Service that gives each pod its name
SSH = 22

# To mount into the shared root that this container sees, and to become the user who logs in. Seccomp's and AppArmor's
# defaults forbid mounts whatever the capabilities.
SSHD: Any = {
    "run_as_user": 0,
    "capabilities": {
        "drop": ["ALL"],
        "add": [
            "AUDIT_WRITE",
            "CHOWN",
            "DAC_OVERRIDE",
            "FOWNER",
            "KILL",
            "NET_BIND_SERVICE",
            "SETGID",
            "SETUID",
            "SYS_ADMIN",
            "SYS_CHROOT",
        ],
    },
    "seccomp_profile": {"type": "Unconfined"},
    "app_armor_profile": {"type": "Unconfined"},
}


class Login(pulumi.ComponentResource):
    """Pods `login-0` and so on, all with the same host key, so that users cannot tell which one they reach."""

    service: Service
    ssh: pulumi.Output[str | None]

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        secrets: ClusterSecrets,
        storage: SharedStorage,
        after: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Login", name, None, opts)
        labels = pods.labels(settings, LOGIN)
        Service(
            f"{name}-login-pods",
            metadata={"name": PODS, "namespace": namespace, "annotations": NO_WAIT},
            spec={"cluster_ip": "None", "publish_not_ready_addresses": True, "selector": labels},
            opts=child(self),
        )
        StatefulSet(
            f"{name}-login",
            metadata={"name": LOGIN, "namespace": namespace, "labels": labels},
            spec={
                "service_name": PODS,
                "replicas": settings.login.size,
                "pod_management_policy": "Parallel",
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": pods.template_metadata(
                        settings,
                        LOGIN,
                        settings.login.node_filter,
                        {"slipway/auth-key": secrets.auth_key, "slipway/host-keys": secrets.host_key},
                    ),
                    "spec": _pod(settings, secrets, storage),
                },
            },
            opts=child(self, *after),
        )
        one_at_a_time(name, LOGIN, settings, namespace, settings.login.size, self)
        self.service = Service(
            f"{name}-login",
            metadata={"name": LOGIN, "namespace": namespace, "annotations": settings.login.service.annotations},
            # A user comes back to the pod with the session that was left.
            spec={**services.spec(settings.login.service, labels, "ssh", SSH), "session_affinity": "ClientIP"},  # pyright: ignore[reportArgumentType]
            opts=child(self),
        )
        seen = pulumi.Output.all(self.service.spec, self.service.status)
        self.ssh = seen.apply(lambda service: _command(settings, service))
        self.register_outputs({})


def _command(settings: Settings, service: Any) -> str | None:
    """What a user types. The address is the one that is stated, the load balancer's, or any node's."""
    wanted = settings.login.service
    if wanted.type == "ClusterIP" and not wanted.address:
        return None
    found, node_port = services.address(service)
    port = wanted.port if wanted.type != "NodePort" else node_port
    unknown = "<any node>" if wanted.type == "NodePort" else "<pending>"
    user = settings.users[0].name if settings.users else "<user>"
    words = ["ssh", *(["-p", str(port)] if port != SSH else []), f"{user}@{wanted.address or found or unknown}"]
    return " ".join(words)


def _pod(settings: Settings, secrets: ClusterSecrets, storage: SharedStorage) -> PodSpecArgsDict:
    image = settings.images.reference("login")
    munge = settings.cluster.auth == "munge"
    small = pods.resources("100m", "64Mi")
    limits = pods.limits_env(settings.login.limits)
    init: list[Any] = [
        *([pods.munge_sidecar(image, pods.RESTRICTED)] if munge else []),
        {
            # The configuration for the commands that users run, always the one that slurmctld has; with auth/slurm also
            # what proves who they are. sshd waits for it.
            "name": "sackd",
            "image": image,
            "command": [f"{pods.SCRIPTS}/sackd"],
            "env": pods.env({"SLURM_CONTROLLER": places.slurmctld(settings), **pods.auth_env(settings)}),
            "restart_policy": "Always",
            "resources": small,
            "security_context": pods.RESTRICTED,
            "volume_mounts": [pods.RUN, *([] if munge else pods.OWN_KEYS)],
        },
    ]
    sshd: Any = {
        "name": "sshd",
        "image": image,
        "termination_message_path": pods.TERMINATION_LOG,
        "ports": [{"name": "ssh", "container_port": SSH}],
        "resources": pods.resources(str(settings.login.cpus), settings.login.memory),
        "security_context": SSHD,
        "readiness_probe": {"tcp_socket": {"port": SSH}, "period_seconds": 2},
        "volume_mounts": [
            {"name": "host-keys", "mount_path": "/mnt/host-keys", "read_only": True},
            {"name": "user-tmp", "mount_path": "/mnt/tmp"},
            pods.RUN,
            *storage.mounts,
        ],
    }
    if limits:
        sshd["env"] = pods.env(limits)
    return pods.placed(
        settings,
        settings.login.node_filter,
        {
            "termination_grace_period_seconds": 10,  # sessions end with the pod; sshd would wait for ever
            "topology_spread_constraints": pods.spread(pods.labels(settings, LOGIN)),
            "init_containers": init,
            "containers": [sshd],
            "volumes": [
                {"name": "host-keys", "secret": {"secret_name": secrets.host_keys, "default_mode": 0o400}},
                {"name": "user-tmp", "empty_dir": {}},
                *pods.key_volumes(secrets.daemons, pods.keys_for(settings)),
                *storage.volumes,
            ],
        },
    )
