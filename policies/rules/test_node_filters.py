"""Pods carry exactly their filter."""

from typing import Any

import pytest

from policies.examples import (
    OFF_THE_CONTROL_PLANE,
    POD,
    UNKNOWN,
    changed,
    cluster,
    controller,
    finding,
    findings,
    node_filter,
    node_set,
    worker,
    workload,
)
from policies.rules.node_filters import REQUIRED, RULES

LABELS = "spec.template.metadata.labels"
TAINTED = {**node_filter(pool="compute"), "tolerations": [{"key": "batch", "operator": "Exists"}]}
MODEL = {"key": "model", "operator": "In", "values": ["h100"]}


def test_pods_as_the_components_make_them_pass() -> None:
    assert findings(RULES, cluster(), controller(), worker()) == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (f"{POD}.nodeSelector", {}, "nodeSelector is empty, and nodeFilters.compute.nodeSelector says {'pool'"),
        (f"{POD}.nodeSelector", {"pool": "compute", "disk": "nvme"}, "nodeSelector is {'disk': 'nvme', 'pool'"),
        (f"{POD}.tolerations", [{"key": "batch", "operator": "Exists"}], "tolerations is [{'key': 'batch'"),
        (f"{POD}.affinity", {}, "could land on a control-plane node"),
        (f"{POD}.nodeName", "node-1", "is bound to the node node-1"),
        (f"{POD}.affinity.podAffinity", {"x": 1.0}, "affinity.podAffinity"),
        (f"{LABELS}.slipway/node-filter", "", "names no node filter"),
        (f"{LABELS}.slipway/node-filter", "gpu", "names the node filter `gpu`"),
        (f"{LABELS}.slipway/node-set", "other", "NodeSet `other`, which the stack does not declare"),
    ],
)
def test_a_pod_that_is_placed_otherwise_is_stopped(path: str, value: Any, said: str) -> None:
    assert said in finding(RULES, cluster(), changed(worker(), path, value))


def test_a_role_that_the_stack_does_not_have_is_stopped() -> None:
    pod = workload("Deployment", "stranger", "system", "main")
    assert "role `stranger`, which the stack does not declare" in finding(RULES, cluster(), pod)


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"operator": "Exists", "effect": "NoSchedule"},
        {"key": "", "operator": "Exists"},
        {"key": "node-role.kubernetes.io/control-plane"},
        {"key": "node-role.kubernetes.io/master", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
    ],
)
def test_no_pod_tolerates_a_control_plane_even_if_its_filter_says_so(toleration: dict[str, str]) -> None:
    declared = {"compute": {**node_filter(pool="compute"), "tolerations": [toleration]}, "system": node_filter()}
    said = finding(RULES, cluster(nodeFilters=declared), changed(worker(), f"{POD}.tolerations", [toleration]))
    assert "tolerates" in said


def test_a_filters_own_tolerations_and_affinity_pass_and_must_be_there() -> None:
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [MODEL]}]}}}
    declared = {"system": node_filter(pool="system"), "compute": {**TAINTED, "affinity": affinity}}
    kept_off = OFF_THE_CONTROL_PLANE["nodeAffinity"][REQUIRED]["nodeSelectorTerms"][0]["matchExpressions"]
    both = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [MODEL, *kept_off]}]}}}
    pod = changed(changed(worker(), f"{POD}.tolerations", TAINTED["tolerations"]), f"{POD}.affinity", both)
    assert findings(RULES, cluster(nodeFilters=declared), pod) == []
    assert len(findings(RULES, cluster(nodeFilters=declared), worker())) == 2


def test_each_alternative_keeps_off_the_control_plane() -> None:
    terms = f"{POD}.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    kept_off = OFF_THE_CONTROL_PLANE["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    said = findings(RULES, cluster(), changed(worker(), terms, [*kept_off, {"matchExpressions": [MODEL]}]))
    assert "could land on a control-plane node" in said[0]


def test_the_controller_may_keep_apart_from_its_standby() -> None:
    apart = {REQUIRED: [{"topologyKey": "kubernetes.io/hostname"}]}
    assert findings(RULES, cluster(), changed(controller(), f"{POD}.affinity.podAntiAffinity", apart)) == []


def test_another_roles_filter_is_stopped() -> None:
    pod = workload("StatefulSet", "controller", "compute", "slurmctld")
    assert "the stack gives `system` to controller" in finding(RULES, cluster(), pod)


def test_workers_use_no_filter_of_those_who_serve_unless_allowed() -> None:
    shared = cluster(nodeSets={"worker": node_set(nodeFilter="system")})
    pod = changed(changed(worker(), f"{POD}.nodeSelector.pool", "system"), f"{LABELS}.slipway/node-filter", "system")
    assert "runs jobs on the nodes of controller, login, rest" in finding(RULES, shared, pod)
    assert findings(RULES, shared, pod, allowed={"worker": ["system"]}) == []


def test_a_role_keeps_to_the_filters_that_are_allowed_for_it() -> None:
    said = finding(RULES, cluster(), controller(), allowed={"controller": ["quiet"]})
    assert "the role controller may use quiet, and uses `system`" in said


def test_a_pod_of_no_cluster_is_stopped() -> None:
    assert "belongs to no SlurmCluster" in finding(RULES, worker())


@pytest.mark.parametrize("path", [POD, f"{POD}.nodeSelector", f"{POD}.tolerations", f"{POD}.affinity", LABELS])
def test_what_is_not_known_yet_is_stopped_and_not_passed_over(path: str) -> None:
    said = finding(RULES, cluster(), changed(worker(), path, UNKNOWN))
    assert f"`{path}` is known only after the update" in said


def test_a_cluster_that_does_not_say_its_filters_plainly_is_stopped() -> None:
    assert "`nodeFilters` is known only after" in finding(RULES, cluster(nodeFilters=UNKNOWN), worker())
