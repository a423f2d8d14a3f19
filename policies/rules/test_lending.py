"""Machines that are lent to the bridge are nobody else's."""

from typing import Any

from policies.examples import UNKNOWN, changed, cluster, controller, finding, findings, node_filter, node_set, worker
from policies.reading import Resource
from policies.rules.lending import RULES
from policies.rules.node_filters import BRIDGED
from policies.rules.node_filters import RULES as NODE_FILTERS
from policies.rules.resources import RULES as RESOURCES

POD = "spec.template.spec"


def lending(*node_sets: str, selector: dict[str, str] | None = None, **declared: Any) -> Resource:
    external = {"selector": selector} if selector else {}
    return cluster(lent={"nodeSets": list(node_sets), **external}, **declared)


def test_who_lends_nothing_is_left_alone() -> None:
    everywhere = {"system": node_filter(), "compute": node_filter()}
    assert findings(RULES, cluster(nodeFilters=everywhere)) == []


def test_machines_that_are_only_the_workers_may_be_lent() -> None:
    assert findings(RULES, lending("worker")) == []
    assert findings(RULES, lending("worker", selector={"pool": "batch"})) == []


def test_lent_machines_that_could_be_the_controllers_are_stopped() -> None:
    filters = {"system": node_filter(pool="system"), "compute": node_filter(disk="nvme")}
    said = finding(RULES, lending("worker", nodeFilters=filters))
    assert "could be those of controller, login, rest (nodeFilters.system)" in said
    assert "throw off" in said


def test_two_node_sets_never_share_lent_machines() -> None:
    sets = {"worker": node_set(), "gpu": node_set()}
    assert "could share machines" in finding(RULES, lending("worker", nodeSets=sets))
    assert "could share machines" in finding(RULES, lending("worker", "gpu", nodeSets=sets))
    sets["gpu"] = node_set(size=0.0)
    assert findings(RULES, lending("worker", nodeSets=sets)) == []


def test_a_machine_is_not_lent_twice() -> None:
    said = finding(RULES, lending(selector={"pool": "compute"}))
    assert "could be those of NodeSet worker" in said


def test_external_nodes_are_not_the_controllers() -> None:
    said = finding(RULES, lending(selector={"pool": "system"}))
    assert "the nodes of bridge.externalNodes (pool=system) could be those of controller, login, rest" in said


def test_what_is_not_known_yet_is_stopped() -> None:
    assert "known only after the update" in finding(RULES, cluster(lent=UNKNOWN))


def test_workers_put_up_with_the_taint_of_the_bridge_and_nobody_else_does() -> None:
    put_up = changed(worker(), f"{POD}.tolerations", [BRIDGED])
    assert findings(NODE_FILTERS, cluster(), put_up) == []
    elsewhere = changed(controller(), f"{POD}.tolerations", [BRIDGED])
    assert "tolerations is" in finding(NODE_FILTERS, cluster(), elsewhere)


def test_only_workers_on_lent_machines_may_ask_for_less_than_they_use() -> None:
    modest = changed(worker(), f"{POD}.containers.0.resources.requests", {"cpu": "100m", "memory": "256Mi"})
    assert findings(RESOURCES, lending("worker"), modest) == []
    assert len(findings(RESOURCES, cluster(), modest)) == 2
