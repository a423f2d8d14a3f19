"""Pods that ask for more than their nodes have would wait for ever, and nobody would be told."""

from collections.abc import Iterator
from dataclasses import dataclass

from config.checks.finding import Finding
from config.checks.references import SERVING
from config.paths import Path
from config.settings import Settings
from config.types import MemorySize

# Of each resource: how a pod's section and a node filter call it.
RESOURCES = {"cpus": "nodeCpus", "memory": "nodeMemory", "gpus": "nodeGpus"}


@dataclass(frozen=True)
class Pods:
    """Equal pods under one filter, with what each asks for: thousandths of CPUs, bytes, GPUs."""

    path: Path
    node_filter: str
    count: int
    cpus: int
    memory: int
    gpus: int = 0


def _all_pods(settings: Settings) -> Iterator[Pods]:
    for section in ("controller", "login", "rest", "accounting"):
        each = getattr(settings, section)
        if getattr(each, "enabled", True):
            size = getattr(each, "size", 1)
            yield Pods((section,), each.node_filter, size, each.cpus.milli, each.memory.bytes)
    accounting = settings.accounting
    if accounting.enabled and accounting.database is None:
        own = accounting.mariadb
        yield Pods(("accounting", "mariadb"), accounting.node_filter, 1, own.cpus.milli, own.memory.bytes)
    for name, each in settings.all_node_sets.items():
        gpus = each.gpus.count if each.gpus else 0
        yield Pods(settings.path_of(name), each.node_filter, each.size, each.cpus * 1000, each.memory.bytes, gpus)


def _stated(settings: Settings, node_filter: str) -> dict[str, int]:
    """What one node of a filter is stated to have, in the units of Pods."""
    found = settings.node_filters.get(node_filter)
    if found is None:
        return {}
    stated = {
        "cpus": found.node_cpus and found.node_cpus * 1000,
        "memory": found.node_memory and found.node_memory.bytes,
        "gpus": found.node_gpus,
    }
    return {what: amount for what, amount in stated.items() if amount is not None}


def pods_fit_on_a_node(settings: Settings) -> Iterator[Finding]:
    """No pod asks for more than one node of its filter is stated to have."""
    for pods in _all_pods(settings):
        for what, limit in _stated(settings, pods.node_filter).items():
            asked = getattr(pods, what)
            if asked > limit:
                key = RESOURCES[what]
                message = (
                    f"{_shown(what, asked)} is more than one node of `{pods.node_filter}` has "
                    f"(nodeFilters.{pods.node_filter}.{key}: {_shown(what, limit)}); lower it, or use another filter"
                )
                path = (*pods.path, "gpus", "count") if what == "gpus" else (*pods.path, what)
                yield Finding(path, message, (("nodeFilters", pods.node_filter, key), (*pods.path, "nodeFilter")))


def node_sets_fit_on_their_nodes(settings: Settings) -> Iterator[Finding]:
    """All NodeSets of a filter together ask for no more than its stated nodes have, and their pods can be packed on
    them: a pod is on one node, and what is left over beside it may be too little for another."""
    for name, node_filter in settings.node_filters.items():
        if node_filter.nodes is None:
            continue
        stated = _stated(settings, name)
        sets = [p for p in _all_pods(settings) if p.node_filter == name and p.path[0] not in SERVING and p.count]
        short = False
        for what, limit in stated.items():
            asked = sum(pods.count * getattr(pods, what) for pods in sets)
            if asked > limit * node_filter.nodes:
                largest = max(sets, key=lambda pods: pods.count * getattr(pods, what))
                message = (
                    f"the NodeSets of filter `{name}` ask for {_shown(what, asked)} ({what}) together, and its "
                    f"{node_filter.nodes} nodes have {_shown(what, limit * node_filter.nodes)}; lower size or {what}"
                )
                short = True
                yield Finding((*largest.path, "size"), message, _rests_on(name, sets, what))
        if not short:
            yield from _unpacked(name, node_filter.nodes, sets, stated)


def _unpacked(name: str, nodes: int, sets: list[Pods], stated: dict[str, int]) -> Iterator[Finding]:
    """Pods that no way of packing finds room for: those of one NodeSet, or those of several that take more than half of
    a node each, so that no two of them share one."""
    for pods in sets:
        each = _per_node(pods, stated)
        if each and pods.count > each * nodes:
            fit = f"{each} of its pods fit" if each > 1 else "1 of its pods fits"
            message = f"{fit} on a node of `{name}`, so that its {nodes} nodes have room for {each * nodes}; lower size"
            yield Finding((*pods.path, "size"), message, _rests_on(name, [pods], *stated))
            return
    for what, limit in stated.items():
        alone = [pods for pods in sets if limit / 2 < getattr(pods, what) <= limit]
        total = sum(pods.count for pods in alone)
        if total > nodes:
            largest = max(alone, key=lambda pods: pods.count)
            message = f"{total} pods need a node of `{name}` each, by their {what}, and there are {nodes}; lower size"
            yield Finding((*largest.path, "size"), message, _rests_on(name, alone, what))
            return


def _per_node(pods: Pods, stated: dict[str, int]) -> int:
    """How many of these pods fit on one node; 0 if none does, or if nothing limits them."""
    return min((limit // asked for what, limit in stated.items() if (asked := getattr(pods, what))), default=0)


def _rests_on(node_filter: str, sets: list[Pods], *what: str) -> tuple[Path, ...]:
    filters = tuple(("nodeFilters", node_filter, key) for key in ("nodes", *(RESOURCES[each] for each in what)))
    return filters + tuple((*pods.path, key) for pods in sets for key in ("size", *what, "nodeFilter"))


def _shown(what: str, amount: int) -> str:
    if what == "memory":
        return str(MemorySize(amount))
    return f"{amount / 1000:g}" if what == "cpus" else str(amount)
