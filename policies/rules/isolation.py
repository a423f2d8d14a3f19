"""NodeSets that are declared exclusive have their Kubernetes nodes to themselves, and all NodeSets fit on theirs."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from policies.reading import CLUSTER, Cluster, Resource, Stack, plain
from policies.rule import Rule, Settings
from policies.selection import overlap

PER_NODE = {"nodeCpus": "cpus", "nodeMemoryMib": "memoryMib", "nodeGpus": "gpus"}


def check(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    if resource.type != CLUSTER:
        return
    cluster = Cluster(resource.name, plain(resource.props))
    running = {name: each for name, each in cluster.node_sets.items() if each["size"]}
    for (one, first), (other, second) in itertools.combinations(running.items(), 2):
        if first["exclusive"] or second["exclusive"]:
            yield from _apart(cluster, one, first["nodeFilter"], other, second["nodeFilter"])
    for name, node_filter in cluster.node_filters.items():
        sets = {each: one for each, one in running.items() if one["nodeFilter"] == name}
        if "nodes" in node_filter and sets:
            yield from _fit(name, node_filter, sets)


def _apart(cluster: Cluster, one: str, first: str, other: str, second: str) -> Iterator[str]:
    """Two filters keep apart if one label must have a value for the first that it cannot have for the second."""
    if first == second:
        yield (
            f"NodeSets {one} and {other} use the same node filter `{first}`, and one of them is exclusive. Give each a "
            f"filter of its own, or take `exclusive` away ({_key(one)}, {_key(other)})."
        )
    elif overlap(cluster.node_filters[first], cluster.node_filters[second]):
        yield (
            f"NodeSets {one} (nodeFilters.{first}) and {other} (nodeFilters.{second}) could share nodes, and one of "
            "them is exclusive. Have both filters select by a label of which a node has only one of the two values."
        )


def _fit(name: str, node_filter: Mapping[str, Any], sets: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Each NodeSet fits on the declared nodes; and all of one filter, by how much of the nodes each needs."""
    nodes = node_filter["nodes"]
    needed = 0.0
    for each, node_set in sets.items():
        fit = _pods_per_node(node_filter, node_set)
        needed += node_set["size"] / fit if fit else float("inf")
        if node_set["size"] > nodes * fit:
            yield (
                f"NodeSet {each} has {node_set['size']} nodes ({_key(each)}.size), and nodeFilters.{name} declares "
                f"{nodes} nodes with room for {fit} of them each. Lower size, or correct nodeFilters.{name}.nodes."
            )
            return
    if needed > nodes:
        yield (
            f"NodeSets {', '.join(sets)} together need {needed:.3g} nodes, and nodeFilters.{name} declares {nodes}. "
            f"Lower their size, or correct nodeFilters.{name}.nodes."
        )


def _pods_per_node(node_filter: Mapping[str, Any], node_set: Mapping[str, Any]) -> int:
    """How many worker pods one node holds; one, where the filter does not say how large its nodes are."""
    rooms = [
        int(node_filter[has] // node_set[asks])
        for has, asks in PER_NODE.items()
        if has in node_filter and node_set.get(asks)
    ]
    return min(rooms, default=1)


def _key(node_set: str) -> str:
    return node_set if node_set == "worker" else f"nodeSets.{node_set}"


RULES = [
    Rule(
        name="isolation",
        about="Exclusive NodeSets share no Kubernetes nodes, and NodeSets fit on the nodes that their filter declares.",
        check=check,
        page="isolation.md",
    )
]
