"""Requests and limits everywhere, and Guaranteed workers."""

from typing import Any

import pytest

from policies.examples import FIRST, SIZE, UNKNOWN, changed, cluster, controller, finding, findings, worker
from policies.rules.resources import RULES


def test_containers_that_state_both_pass() -> None:
    assert findings(RULES, cluster(), worker(), controller()) == []


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({}, "requests.cpu, requests.memory, limits.cpu, limits.memory"),
        ({"requests": SIZE}, "limits.cpu, limits.memory"),
        ({"requests": SIZE, "limits": {"cpu": "1"}}, "limits.memory"),
        ({"requests": SIZE, "limits": {"cpu": "1", "memory": "much"}}, "limits.memory"),
    ],
)
def test_what_a_container_does_not_state_is_named(value: dict[str, Any], missing: str) -> None:
    assert f"does not state {missing}." in finding(RULES, cluster(), changed(controller(), f"{FIRST}.resources", value))


def test_init_containers_count() -> None:
    bare = changed(worker(), "spec.template.spec.initContainers", [{"name": "keys"}])
    assert "container keys" in finding(RULES, cluster(), bare)


def test_a_worker_is_guaranteed_and_others_need_not_be() -> None:
    more = {"requests": SIZE, "limits": {"cpu": 2.0, "memory": "1Gi"}}
    said = finding(RULES, cluster(), changed(worker(), f"{FIRST}.resources", more))
    assert "asks for cpu 1 and may use 2" in said
    assert findings(RULES, cluster(), changed(controller(), f"{FIRST}.resources", more)) == []


def test_equal_amounts_may_be_written_differently() -> None:
    same = {"requests": SIZE, "limits": {"cpu": "1000m", "memory": "1Gi"}}
    assert findings(RULES, cluster(), changed(worker(), f"{FIRST}.resources", same)) == []


def test_what_is_not_known_yet_is_stopped() -> None:
    said = finding(RULES, cluster(), changed(worker(), f"{FIRST}.resources.limits.cpu", UNKNOWN))
    assert "known only after the update" in said
