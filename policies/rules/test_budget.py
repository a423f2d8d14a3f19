"""Caps on nodes, CPUs and GPUs."""

import pytest

from policies.examples import FIRST, UNKNOWN, changed, cluster, finding, findings, node_set, worker
from policies.rules.budget import CAPS, RULES

GPU = node_set(size=4.0, cpus=8.0, gpus=8.0, gpuResource="nvidia.com/gpu")


@pytest.mark.parametrize(("what", "total"), [("nodes", 6), ("cpus", 34), ("gpus", 32)])
def test_a_cap_counts_all_node_sets(what: str, total: int) -> None:
    both = cluster(nodeSets={"worker": node_set(), "gpu": GPU})
    assert findings(RULES, both, **{what: total}) == []
    said = finding(RULES, both, **{what: float(total - 1)})
    assert f"have {total} {what}, and this stack may have {total - 1} (NodeSets by size: gpu 4, worker 2)" in said


def test_there_are_caps_where_nothing_is_configured() -> None:
    assert findings(RULES, cluster(nodeSets={"worker": node_set(size=float(CAPS["nodes"]))})) == []
    assert "have 257 nodes" in finding(RULES, cluster(nodeSets={"worker": node_set(size=257.0)}))


def test_what_is_deployed_is_what_was_counted() -> None:
    assert findings(RULES, cluster(), worker()) == []
    assert "has 200 replicas, and the stack declares 2" in finding(
        RULES, cluster(), changed(worker(), "spec.replicas", 200.0)
    )
    limits = f"{FIRST}.resources.limits"
    assert "may use 64 cpus" in finding(RULES, cluster(), changed(worker(), f"{limits}.cpu", "64"))
    more = {"cpu": "1", "memory": "1Gi", "amd.com/gpu": "8"}
    assert "may use 8 gpus" in finding(RULES, cluster(), changed(worker(), limits, more))


def test_a_node_set_that_is_not_declared_is_stopped() -> None:
    assert "nobody counts" in finding(RULES, cluster(nodeSets={}), worker())


def test_what_is_not_known_yet_is_stopped() -> None:
    assert "known only after" in finding(RULES, cluster(nodeSets=UNKNOWN))
    assert "known only after" in finding(RULES, cluster(), changed(worker(), "spec.replicas", UNKNOWN))
