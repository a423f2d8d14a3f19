"""The two files that Slurm Bridge reads: its own, and the one of the kube-scheduler that it is built on."""

from typing import Any

import yaml

from components.bridge_rules import SCHEDULER_LEASE
from config import Settings
from slurm import places

PLUGIN = "SlurmBridge"
# Where the plugin comes in, with those of Kubernetes that are asked beside it: volumes are bound, nodes have room, and
# taints hold for these pods too. All others are off: Slurm has decided.
PLUGINS: dict[str, list[str]] = {
    "queueSort": ["PrioritySort"],
    "preEnqueue": [PLUGIN],
    "preFilter": ["VolumeBinding", "NodeResourcesFit", PLUGIN],
    "filter": ["VolumeBinding", "TaintToleration", "NodeResourcesFit", PLUGIN],
    "postFilter": [PLUGIN],
    "reserve": ["VolumeBinding"],
    "preBind": ["VolumeBinding", PLUGIN],
    "bind": ["DefaultBinder"],
}


def slurmrestd(settings: Settings) -> str:
    return f"http://{places.service(settings, places.REST)}:{settings.rest.service.port}"


def config(settings: Settings) -> str:
    """`config.yaml`, which all three processes read when they start."""
    bridge = settings.bridge
    selector = bridge.managed_namespace_selector
    managed: dict[str, Any] = {"managedNamespaces": list(bridge.managed_namespaces)}
    if selector:
        managed = {"managedNamespaceSelector": selector.model_dump(by_alias=True, exclude_defaults=True)}
    return _yaml(
        {
            "schedulerName": bridge.scheduler_name,
            "slurmRestApi": slurmrestd(settings),
            **managed,
            "mcsLabel": bridge.mcs_label,
            "partition": settings.bridge_partition,
        }
    )


def scheduler_config(settings: Settings) -> str:
    """`scheduler-config.yaml`. One of several acts; and of two, while the next one starts."""
    plugins = {point: {"enabled": [{"name": name} for name in names]} for point, names in PLUGINS.items()}
    return _yaml(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {
                "leaderElect": True,
                "resourceNamespace": settings.bridge_namespace,
                "resourceName": SCHEDULER_LEASE,
            },
            "profiles": [
                {
                    "schedulerName": settings.bridge.scheduler_name,
                    "plugins": {**plugins, "multiPoint": {"disabled": [{"name": "*"}]}},
                    "pluginConfig": [{"name": PLUGIN}],
                }
            ],
        }
    )


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False)
