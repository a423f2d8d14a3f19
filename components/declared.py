"""What the stack declares, as inputs of `SlurmCluster`: the policy pack compares all else with it.

Plain values only, never an Output: a rule must be able to read them in the first preview of an empty stack."""

from collections.abc import Mapping
from typing import Any

from config import Settings
from config.node_filters import NodeFilter
from config.node_sets import NodeSet

# Pods of each section that names a filter, by the label `app.kubernetes.io/name`.
PODS = {
    "controller": ("controller", "controller-standby"),
    "login": ("login", "populate-jail", "apply-users"),
    "accounting": ("accounting", "database"),
    "rest": ("rest",),
    "bridge": ("bridge-scheduler", "bridge-controllers", "bridge-admission", "bridge-steward"),
}


def declared(settings: Settings) -> dict[str, Any]:
    """Where pods may run, how many of them, on which volumes of the nodes, and from which registry."""
    return {
        "stage": settings.cluster.stage,
        "registry": settings.images.registry or "",
        "nodeFilters": {name: _filter(each) for name, each in settings.node_filters.items()},
        "roles": _roles(settings),
        "nodeSets": {name: _node_set(each) for name, each in settings.all_node_sets.items()},
        "hostPaths": _host_paths(settings),
        "lent": _lent(settings),
    }


def _filter(each: NodeFilter) -> dict[str, Any]:
    return {
        "nodeSelector": dict(each.node_selector),
        "affinity": dict(each.affinity),
        "tolerations": [toleration.model_dump(by_alias=True, exclude_none=True) for toleration in each.tolerations],
        **_stated(
            nodes=each.nodes,
            nodeCpus=each.node_cpus,
            nodeMemoryMib=each.node_memory and each.node_memory.mib,
            nodeGpus=each.node_gpus,
        ),
    }


def _node_set(each: NodeSet) -> dict[str, Any]:
    return {
        "size": each.size,
        "nodeFilter": each.node_filter,
        "exclusive": each.exclusive,
        "cpus": each.cpus,
        "memoryMib": each.memory.mib,
        **_stated(gpus=each.gpus and each.gpus.count, gpuResource=each.gpus and each.gpus.resource_name),
    }


def _roles(settings: Settings) -> dict[str, str]:
    sections: Mapping[str, Any] = {name: getattr(settings, name) for name in PODS}
    running = {name: each for name, each in sections.items() if getattr(each, "enabled", True)}
    return {pod: each.node_filter for name, each in running.items() for pod in PODS[name]}


def _lent(settings: Settings) -> dict[str, Any]:
    """Which machines the bridge may give to pods: those of NodeSets, and nodes by their labels."""
    external = settings.bridge.external
    return {"nodeSets": list(settings.bridge.lent), **({"selector": dict(external.selector)} if external else {})}


def _host_paths(settings: Settings) -> list[str]:
    of_nodes = [each for node_set in settings.all_node_sets.values() for each in node_set.submounts]
    volumes = [settings.storage.jail, *settings.storage.submounts, settings.controller.state, *of_nodes]
    accounting = settings.accounting
    if accounting.enabled:
        volumes += [] if accounting.database else [accounting.mariadb.storage]
        volumes += [accounting.archive.storage] if accounting.archive.records else []
    return sorted({each.host_path for each in volumes if each.host_path})


def _stated(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
