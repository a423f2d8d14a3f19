"""Machines that are lent to the bridge are nobody else's: its taint throws other pods off them at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from policies.reading import CLUSTER, Cluster, Resource, Stack, plain
from policies.rule import Rule, Settings
from policies.selection import overlap

APART = "Have both select by a label of which a node has only one of the two values."


def check(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    if resource.type != CLUSTER:
        return
    cluster = Cluster(resource.name, plain(resource.props))
    running = {name: each["nodeFilter"] for name, each in cluster.node_sets.items() if each["size"]}
    lent = {name: running[name] for name in cluster.lent["nodeSets"] if name in running}
    for name, used in lent.items():
        machines = f"the machines of NodeSet {name} (nodeFilters.{used}), which are lent to the bridge"
        yield from _roles(cluster, machines, cluster.node_filters[used])
        yield from _workers(cluster, name, {other: each for other, each in running.items() if other != name}, lent)
    if selector := cluster.lent.get("selector"):
        nodes = {"nodeSelector": selector, "affinity": {}}
        machines = f"the nodes of bridge.externalNodes ({_labels(selector)})"
        yield from _roles(cluster, machines, nodes)
        for name, used in running.items():
            if overlap(nodes, cluster.node_filters[used]):
                yield (
                    f"{machines} could be those of NodeSet {name} (nodeFilters.{used}): Slurm would know one machine "
                    f"twice, and hand it out twice. {APART}"
                )


def _roles(cluster: Cluster, machines: str, nodes: Mapping[str, Any]) -> Iterator[str]:
    """The taint is NoExecute: slurmctld on such a machine would be thrown off when the bridge gets it."""
    for used in sorted(set(cluster.roles.values())):
        if overlap(nodes, cluster.node_filters[used]):
            roles = ", ".join(sorted(role for role, each in cluster.roles.items() if each == used))
            yield (
                f"{machines} could be those of {roles} (nodeFilters.{used}), whose pods the bridge's taint would throw "
                f"off. {APART}"
            )


def _workers(cluster: Cluster, name: str, others: Mapping[str, str], lent: Mapping[str, str]) -> Iterator[str]:
    """A machine has one name in Slurm. Of two NodeSets that are both lent, it is said once."""
    used = cluster.node_sets[name]["nodeFilter"]
    for other, each in others.items():
        said = other in lent and other < name
        if not said and (each == used or overlap(cluster.node_filters[used], cluster.node_filters[each])):
            yield (
                f"NodeSets {name} (nodeFilters.{used}) and {other} (nodeFilters.{each}) could share machines, and "
                f"those of {name} are lent to the bridge, which knows a machine by one worker. Give each a filter of "
                f"its own. {APART}"
            )


def _labels(selector: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in selector.items())


RULES = [
    Rule(
        name="lending",
        about="Machines that are lent to the bridge are not those of other NodeSets, nor of Slurm's own daemons.",
        check=check,
        page="lending.md",
    )
]
