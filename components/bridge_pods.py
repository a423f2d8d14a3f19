"""The pods of Slurm Bridge's three processes, as release 1.2 starts them."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_kubernetes.core.v1 import PodSpecArgsDict

from components import pods
from components.access import ACCESS, token
from config import Settings

SCHEDULER, CONTROLLERS, ADMISSION = "bridge-scheduler", "bridge-controllers", "bridge-admission"
CONFIG, SCHEDULER_CONFIG = "bridge-config", "bridge-scheduler-config"
TOKEN, TOKEN_KEY = "bridge-token", "auth-token"
CERTIFICATE = "bridge-admission-tls"
CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108 -- where the release looks for them
HTTPS, HEALTH, SCHEDULER_PORT = 9443, 8081, 10259
NOBODY = 65532
CONTEXT: Any = {**pods.RESTRICTED, "run_as_user": NOBODY, "run_as_group": NOBODY}
# Of a few hundred nodes; informers hold all pods and nodes of the Kubernetes cluster in memory.
SIZE: Any = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
GATES = "DRAExtendedResource=true,DynamicResourceAllocation=true,SchedulerPopFromBackoffQ=false"

# The release reads it once, when it starts: the steward restarts who has an old one.
_TOKEN: Any = {"name": "SLURM_JWT", "value_from": {"secret_key_ref": {"name": TOKEN, "key": TOKEN_KEY}}}
_CONFIG: Any = {"name": "config", "mount_path": "/etc/slurm-bridge", "read_only": True}


def checksum(*texts: str) -> str:
    """Tells one config from another: the processes read theirs when they start, and restart for a new one."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def scheduler(settings: Settings) -> PodSpecArgsDict:
    probe: Any = {"http_get": {"path": "/healthz", "port": SCHEDULER_PORT, "scheme": "HTTPS"}}
    mount = {"name": "scheduler-config", "mount_path": "/etc/kubernetes", "read_only": True}
    volume = {"name": "scheduler-config", "config_map": {"name": SCHEDULER_CONFIG}}
    container = _container(
        "scheduler",
        settings.images.bridge_scheduler,
        ["--config=/etc/kubernetes/scheduler-config.yaml", f"--feature-gates={GATES}"],
        env=[_TOKEN],
        ports={"https": SCHEDULER_PORT},
        probes=(probe, probe),
        mounts=[mount],
    )
    return _pod(settings, SCHEDULER, container, [volume])


def controllers(settings: Settings) -> PodSpecArgsDict:
    args = ["-zap-log-level", "info", "--leader-elect=true"]
    ports = {"metrics": 8080, "health": HEALTH}
    container = _container("controllers", settings.images.bridge_controllers, args, env=[_TOKEN], ports=ports)
    return _pod(settings, CONTROLLERS, container, [])


def admission(settings: Settings) -> PodSpecArgsDict:
    """It asks Slurm nothing, and so it has no token."""
    mount = {"name": "certificate", "mount_path": CERTIFICATES, "read_only": True}
    volume = {"name": "certificate", "secret": {"secret_name": CERTIFICATE}}
    ports = {"https": HTTPS, "health": HEALTH}
    container = _container("admission", settings.images.bridge_admission, [], ports=ports, mounts=[mount])
    # Until the API server has learnt that it is gone.
    container["lifecycle"] = {"pre_stop": {"sleep": {"seconds": 3}}}
    return _pod(settings, ADMISSION, container, [volume])


def _container(
    name: str,
    image: str,
    args: Sequence[str],
    *,
    ports: Mapping[str, int],
    env: Sequence[Any] = (),
    probes: tuple[Any, Any] | None = None,
    mounts: Sequence[Any] = (),
) -> Any:
    alive, ready = probes or ({"http_get": {"path": path, "port": HEALTH}} for path in ("/healthz", "/readyz"))
    return {
        "name": name,
        "image": image,
        "args": list(args),
        "env": list(env),
        "ports": [{"name": each, "container_port": port} for each, port in ports.items()],
        "resources": SIZE,
        "security_context": CONTEXT,
        "startup_probe": {**alive, "period_seconds": 1, "failure_threshold": 120},
        "liveness_probe": {**alive, "period_seconds": 15, "timeout_seconds": 10, "failure_threshold": 4},
        "readiness_probe": {**ready, "period_seconds": 5, "timeout_seconds": 5},
        "volume_mounts": [_CONFIG, ACCESS, *mounts],
    }


def _pod(settings: Settings, component: str, container: Any, volumes: Sequence[Any]) -> PodSpecArgsDict:
    return pods.placed(
        settings,
        settings.bridge.node_filter,
        {
            "service_account_name": component,
            "topology_spread_constraints": pods.spread(pods.labels(settings, component)),
            "containers": [container],
            "volumes": [{"name": "config", "config_map": {"name": CONFIG}}, token(), *volumes],
        },
    )
