"""`Monitoring`: what Prometheus and Grafana find in the cluster, and the container that answers them.

All of it is only there with `monitoring.enabled`."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pulumi
import yaml
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import ConfigMap, ContainerArgsDict, VolumeArgsDict, VolumeMountArgsDict

from components import pods
from components.options import child
from config import Settings
from slurm import places

FILES = Path(__file__).parents[1] / "monitoring"
API = "monitoring.coreos.com/v1"  # the Prometheus Operator's
POD_MONITOR, RULES = "PodMonitor", "PrometheusRule"
PORT = 9341
NOBODY = 65534
APPLIED = "slurm-applied"  # the ConfigMap in which operations record what was applied and verified


def wanted(settings: Settings) -> dict[str, str]:
    """What is wanted of each kind that not every cluster has: auto, on or off."""
    monitoring = settings.monitoring
    if not monitoring.enabled:
        return {}
    return {POD_MONITOR: monitoring.pod_monitor, RULES: monitoring.rules}


def annotations(settings: Settings) -> dict[str, str]:
    """For a Prometheus that finds what to scrape by the annotations of pods."""
    if not settings.monitoring.enabled:
        return {}
    return {"prometheus.io/scrape": "true", "prometheus.io/port": str(PORT), "prometheus.io/path": "/metrics"}


def container(settings: Settings, image: str) -> ContainerArgsDict:
    """Answers Prometheus: it passes on what slurmctld serves, and adds what slurmctld does not know.

    As nobody, without keys: whatever becomes of it, it can only look. 40 MiB, and more where there are many nodes."""
    nodes = sum(each.capacity for each in settings.all_node_sets.values())
    accounting = ["--accounting"] if settings.accounting.enabled else []
    mounts: list[VolumeMountArgsDict] = [
        {**pods.RUN, "read_only": True},  # sockets by which munge, or slurmctld itself, says who asks
        {"name": "config", "mount_path": "/etc/slurm", "read_only": True},
        {"name": "applied", "mount_path": "/mnt/applied", "read_only": True},
        {"name": "rehearsal", "mount_path": "/mnt/rehearsal", "sub_path": "tmp", "read_only": True},
        {"name": "jail", "mount_path": pods.JAIL, "read_only": True},
    ]
    return {
        "name": "metrics",
        "image": image,
        "command": ["/usr/bin/python3", "-IS", f"{pods.SCRIPTS}/metrics", str(PORT), *accounting],
        "ports": [{"name": "metrics", "container_port": PORT}],
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"cpu": "200m", "memory": f"{40 + nodes // 250}Mi"},
        },
        "security_context": {**pods.RESTRICTED, "run_as_user": NOBODY, "run_as_group": NOBODY},
        "volume_mounts": mounts,
    }


def volume() -> VolumeArgsDict:
    """What was last applied. It is written at the end of the first deploy, and the pod starts before that."""
    return {"name": "applied", "config_map": {"name": APPLIED, "optional": True}}


class Monitoring(pulumi.ComponentResource):
    """Dashboards for Grafana's sidecar, and objects of the `kinds` that the Prometheus Operator acts on."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        kinds: Collection[str] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Monitoring", name, None, opts)
        for file in sorted((FILES / "dashboards").glob("*.json")):
            ConfigMap(
                f"{name}-dashboard-{file.stem}",
                metadata={
                    "name": f"dashboard-{file.stem}",
                    "namespace": namespace,
                    "labels": {**_labels(settings), "grafana_dashboard": "1"},
                },
                # Several clusters may share one Grafana, and their dashboards are the same.
                data={f"slipway-{file.name}": file.read_text()},
                opts=child(self),
            )
        made = {kind for kind, wish in wanted(settings).items() if wish == "on" or (wish == "auto" and kind in kinds)}
        specs: dict[str, Any] = {POD_MONITOR: _pod_monitor(settings), RULES: rules(settings)}
        for kind in sorted(made):
            CustomResource(
                f"{name}-{kind.lower()}",
                api_version=API,
                kind=kind,
                metadata={"name": "slurm", "namespace": namespace, "labels": _labels(settings)},
                spec=specs[kind],
                opts=child(self),
            )
        self.register_outputs({})


def rules(settings: Settings) -> dict[str, Any]:
    """The alerts with the thresholds of this stack."""
    alerts = settings.monitoring.alerts
    found: dict[str, Any] = yaml.safe_load((FILES / "alerts.yaml").read_text())
    for rule in found["groups"][0]["rules"]:
        if rule["alert"] == "SlurmQueueStuck":
            rule["for"] = f"{alerts.queue_stuck.seconds}s"
        if rule["alert"] == "SlurmJailNearlyFull":
            rule["expr"] = rule["expr"].replace("> 90", f"> {alerts.jail_percent}")
        if alerts.runbooks:
            page = rule["annotations"]["runbook_url"].rpartition("/")[2]
            rule["annotations"]["runbook_url"] = f"{alerts.runbooks.rstrip('/')}/{page}"
    return found


def _pod_monitor(settings: Settings) -> dict[str, Any]:
    seconds = settings.monitoring.interval.seconds or 0
    times = {"interval": f"{seconds}s", "scrapeTimeout": f"{min(seconds, 10)}s"}
    return {
        "selector": {"matchLabels": pods.labels(settings, places.CONTROLLER)},
        "podMetricsEndpoints": [{"port": "metrics", "path": "/metrics", **times}],
    }


def _labels(settings: Settings) -> dict[str, str]:
    return pods.labels(settings, "monitoring")
