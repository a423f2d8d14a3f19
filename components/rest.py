"""`Rest`: slurmrestd, Slurm's HTTP interface, and how it is reached."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ConfigMap, PodSpecArgsDict, Service
from pulumi_kubernetes.networking.v1 import Ingress

from components import pods, services
from components.configuration import CONFIG_MAP
from components.disruption import one_at_a_time
from components.options import NO_WAIT, child
from components.users import declared
from config import Settings
from config import rest as config
from slurm import places

REST_ID = 64032  # slurmrestd refuses to be root or SlurmUser: whoever reached it would be one of them
SLURMRESTD: Any = {**pods.RESTRICTED, "run_as_user": REST_ID, "run_as_group": REST_ID}
HTTP = "http"
IDLE_MIB = 64
USERS = "rest-users"
NODES = ("NodeName=", "NodeSet=", "PartitionName=")


class Rest(pulumi.ComponentResource):
    """Equal pods that hold no key and no state: callers bring tokens, and slurmctld says what they are good for."""

    url: pulumi.Output[str]
    deployment: Deployment

    def __init__(
        self,
        name: str,
        settings: Settings,
        files: Mapping[str, str],
        namespace: pulumi.Input[str],
        after: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Rest", name, None, opts)
        labels = pods.labels(settings, places.REST)
        users = ConfigMap(
            f"{name}-rest-users",
            metadata={"name": USERS, "namespace": namespace},
            data=_names(settings),
            opts=child(self),
        )
        self.deployment = Deployment(
            f"{name}-rest",
            metadata={"name": places.REST, "namespace": namespace, "labels": labels},
            spec={
                "replicas": settings.rest.size,
                # The next one serves before the last one goes.
                "strategy": {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}},
                "selector": {"match_labels": labels},
                "template": {
                    "metadata": pods.template_metadata(
                        settings,
                        places.REST,
                        settings.rest.node_filter,
                        {"slipway/slurm-conf": _read_at_start(files["slurm.conf"])},
                    ),
                    "spec": _pod(settings, labels),
                },
            },
            opts=child(self, users, *after),
        )
        one_at_a_time(name, places.REST, settings, namespace, settings.rest.size, self)
        wanted = settings.rest.service
        service = Service(
            f"{name}-rest",
            metadata={"name": places.REST, "namespace": namespace, "annotations": wanted.annotations},
            spec=services.spec(wanted, labels, HTTP, places.SLURMRESTD_PORT),  # pyright: ignore[reportArgumentType]
            opts=child(self),
        )
        if settings.rest.ingress:
            self._ingress(name, settings.rest.ingress, namespace)
        seen = pulumi.Output.all(service.spec, service.status)
        self.url = seen.apply(lambda found: _url(settings, found))
        self.register_outputs({"url": self.url})

    def _ingress(self, name: str, wanted: config.Ingress, namespace: pulumi.Input[str]) -> None:
        """https to the name that the certificate in the Secret is for."""
        backend: Any = {"service": {"name": places.REST, "port": {"name": HTTP}}}
        spec: Any = {
            "tls": [{"hosts": [wanted.host], "secret_name": wanted.tls_secret}],
            "rules": [
                {"host": wanted.host, "http": {"paths": [{"path": "/", "path_type": "Prefix", "backend": backend}]}}
            ],
        }
        if wanted.class_name:
            spec["ingress_class_name"] = wanted.class_name
        Ingress(
            f"{name}-rest",
            # Its controller is others' affair, and so is when it has an address.
            metadata={
                "name": places.REST,
                "namespace": namespace,
                "annotations": {**wanted.annotations, **NO_WAIT},
            },
            spec=spec,
            opts=child(self),
        )


def _pod(settings: Settings, labels: dict[str, str]) -> PodSpecArgsDict:
    # Any text will do where a token is expected: slurmrestd itself cannot tell, and does not ask slurmctld for these.
    header = [{"name": "X-SLURM-USER-TOKEN", "value": "none"}]
    port = places.SLURMRESTD_PORT
    alive = {"http_get": {"path": "/livez", "port": port, "http_headers": header}}
    ready = {"http_get": {"path": "/readyz", "port": port, "http_headers": header}}
    slurmrestd: Any = {
        "name": "slurmrestd",
        "image": settings.images.reference("rest"),
        "ports": [{"name": HTTP, "container_port": port}],
        "resources": pods.bursting(IDLE_MIB, settings.rest.cpus, settings.rest.memory),
        "security_context": SLURMRESTD,
        # Until nobody is sent here any more.
        "lifecycle": {"pre_stop": {"exec_": {"command": ["sleep", "3"]}}},
        "startup_probe": {**alive, "period_seconds": 1, "failure_threshold": 120},
        "liveness_probe": {**alive, "period_seconds": 15, "timeout_seconds": 10, "failure_threshold": 4},
        "readiness_probe": {**ready, "period_seconds": 5, "timeout_seconds": 5},
        "volume_mounts": [
            {"name": "config", "mount_path": "/etc/slurm", "read_only": True},
            {"name": "users", "mount_path": "/var/lib/extrausers", "read_only": True},
        ],
    }
    config: Any = {"name": CONFIG_MAP, "items": [{"key": "slurm.conf", "path": "slurm.conf"}]}
    # As libnss-extrausers calls them.
    users: Any = {"name": USERS, "items": [{"key": "users", "path": "passwd"}, {"key": "groups", "path": "group"}]}
    return pods.placed(
        settings,
        settings.rest.node_filter,
        {
            "topology_spread_constraints": pods.spread(labels),
            "containers": [slurmrestd],
            "volumes": [{"name": "config", "config_map": config}, {"name": "users", "config_map": users}],
        },
    )


def _names(settings: Settings) -> dict[str, str]:
    """Users and groups of the stack, for answers that name them: slurmctld tells only their numbers."""
    known = declared(settings)
    users = [f"{each['name']}:x:{each['uid']}:{each['gid']}::/:/usr/sbin/nologin\n" for each in known["users"]]
    groups = [f"{each['name']}:x:{each['gid']}:\n" for each in known["groups"]]
    return {"users": "".join(users), "groups": "".join(groups)}


def _read_at_start(slurm_conf: str) -> str:
    """A digest of what slurmrestd knows only from the file: a change of it is a restart. It asks slurmctld for nodes
    and partitions, and comments are for people."""
    lines = [line for line in slurm_conf.splitlines() if line and not line.startswith(("#", *NODES))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _url(settings: Settings, service: Any) -> str:
    """Where callers find it: at the Ingress, the load balancer, any node, or inside the Kubernetes cluster only."""
    wanted = settings.rest.service
    if settings.rest.ingress:
        return f"https://{settings.rest.ingress.host}"
    found, node_port = services.address(service)
    if wanted.type == "LoadBalancer":
        return f"http://{found or '<pending>'}:{wanted.port}"
    if wanted.type == "NodePort":
        return f"http://<any node>:{node_port}"
    return f"http://{places.service(settings, places.REST)}:{wanted.port}"
