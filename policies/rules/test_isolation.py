"""Exclusive NodeSets share no nodes, and all fit on theirs."""

from typing import Any

import pytest

from policies.examples import UNKNOWN, cluster, finding, findings, node_filter, node_set
from policies.reading import Resource
from policies.rules.isolation import RULES
from policies.selection import REQUIRED


def two(first: dict[str, Any], second: dict[str, Any], exclusive: bool = True) -> Resource:
    """Two NodeSets on these filters, the second of them exclusive."""
    sets = {"worker": node_set(nodeFilter="a"), "gpu": node_set(nodeFilter="b", exclusive=exclusive)}
    return cluster(nodeFilters={"a": first, "b": second}, nodeSets=sets)


def by(operator: str, *values: str, key: str = "pool") -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    return {**node_filter(), "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}


def test_two_exclusive_node_sets_on_one_filter_are_stopped() -> None:
    sets = {"worker": node_set(exclusive=True), "gpu": node_set(exclusive=True)}
    assert "use the same node filter `compute`" in finding(RULES, cluster(nodeSets=sets))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (node_filter(pool="cpu"), node_filter(disk="nvme")),
        (node_filter(pool="cpu"), node_filter()),
        (by("In", "cpu", "gpu"), by("In", "gpu")),
        (by("NotIn", "gpu"), by("In", "cpu")),
        (by("Exists"), by("In", "cpu")),
        (by("Gt", "1"), by("In", "1")),
    ],
)
def test_filters_that_could_overlap_are_stopped(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert "could share nodes" in finding(RULES, two(first, second))
    assert findings(RULES, two(first, second, exclusive=False)) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (node_filter(pool="cpu"), node_filter(pool="gpu")),
        (node_filter(pool="cpu"), by("In", "gpu", "other")),
        (by("NotIn", "gpu"), by("In", "gpu")),
        (by("DoesNotExist"), node_filter(pool="gpu")),
        (by("In", "node-1", key="metadata.name"), by("In", "node-2", key="metadata.name")),
    ],
)
def test_filters_that_cannot_overlap_pass(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert findings(RULES, two(first, second)) == []


def test_a_node_set_without_nodes_is_in_nobodys_way() -> None:
    sets = {"worker": node_set(size=0.0), "gpu": node_set(exclusive=True)}
    assert findings(RULES, cluster(nodeSets=sets)) == []


def limited(*sizes: float, **stated: float) -> Resource:
    filters = {"compute": {**node_filter(pool="compute"), **stated}}
    return cluster(nodeFilters=filters, nodeSets={f"set{i}": node_set(size=each) for i, each in enumerate(sizes)})


def test_more_nodes_than_the_filter_declares_are_stopped() -> None:
    assert findings(RULES, limited(4.0, nodes=4.0)) == []
    assert "has 5 nodes (nodeSets.set0.size)" in finding(RULES, limited(5.0, nodes=4.0))
    assert "together need 5 nodes" in finding(RULES, limited(3.0, 2.0, nodes=4.0))


def test_several_may_share_a_node_that_has_room() -> None:
    assert findings(RULES, limited(8.0, nodes=4.0, nodeCpus=2.0)) == []
    assert "room for 1 of them" in finding(RULES, limited(8.0, nodes=4.0, nodeCpus=2.0, nodeMemoryMib=1500.0))


def test_what_is_not_known_yet_is_stopped() -> None:
    assert "known only after the update" in finding(RULES, cluster(nodeSets=UNKNOWN))
