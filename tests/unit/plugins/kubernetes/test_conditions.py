"""JSONPath, and the conditions that `pulumi.com/waitFor` is written in."""

import json
from typing import Any

import pytest

from lab.plugins.kubernetes import wishes
from lab.plugins.kubernetes.jsonpath import JSONPathError, parse

_OBJECT: dict[str, Any] = {
    "metadata": {"annotations": {"example.com/go": "now"}, "generation": 2},
    "status": {
        "phase": "Running",
        "ready": True,
        "replicas": 3,
        "observedGeneration": 2,
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Old", "status": "True", "observedGeneration": 1},
            {"type": "Synced", "status": "False"},
        ],
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("{.status.phase}", ["Running"]),
        (".status.phase", ["Running"]),
        ("status.phase", ["Running"]),
        ("{$.status.phase}", ["Running"]),
        ("{.metadata.annotations.example\\.com/go}", ["now"]),
        ("{.metadata.annotations['example.com/go']}", ["now"]),
        ('{.status.conditions[?(@.type=="Synced")].status}', ["False"]),
        ("{.status.conditions[?(@.type != 'Ready')].type}", ["Old", "Synced"]),
        ("{.status.conditions[0].type}", ["Ready"]),
        ("{.status.conditions[-1].type}", ["Synced"]),
        ("{.status.conditions[*].type}", ["Ready", "Old", "Synced"]),
        ("{.status.conditions[9].type}", []),
        ("{..phase}", ["Running"]),
        ("{.status.nothing.here}", []),
    ],
)
def test_a_path_finds(path: str, found: list[Any]) -> None:
    assert parse(path).find(_OBJECT) == found


@pytest.mark.parametrize("path", ["", "{}", "{.a", "{.a[}", "{.a[?(@.b==c)]}", "{.a b}"])
def test_a_path_that_cannot_be_read_is_an_error(path: str) -> None:
    with pytest.raises(JSONPathError):
        parse(path)


@pytest.mark.parametrize(
    ("wait", "holds"),
    [
        ("condition=Ready", True),
        ("condition=Ready=False", False),
        ("condition=Synced=false", True),
        ("condition=Old", False),
        ("condition=Missing", False),
        ("jsonpath={.status.phase}=Running", True),
        ("jsonpath={.status.phase}=Failed", False),
        ("jsonpath={.status.phase}", True),
        ("jsonpath={.status.nothing}", False),
        ("jsonpath={.status.ready}=true", True),
        ("jsonpath={.status.replicas}=3", True),
        ('jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', True),
        (json.dumps(["condition=Ready", "jsonpath={.status.phase}=Running"]), True),
        (json.dumps(["condition=Ready", "condition=Synced"]), False),
    ],
)
def test_a_condition_holds_or_not(wait: str, holds: bool) -> None:
    inputs = {"metadata": {"annotations": {"pulumi.com/waitFor": wait}}}
    rule = wishes.awaited(inputs)
    assert rule
    verdict = rule.check(_OBJECT, [])
    assert verdict.ready == holds
    assert holds or "waiting for" in verdict.message


@pytest.mark.parametrize("wait", ["Ready", "jsonpath=", "[]", "jsonpath={.a}x", "jsonpath={.a", '["condition=A", "B"]'])
def test_a_condition_that_cannot_be_read_names_the_annotation(wait: str) -> None:
    with pytest.raises(wishes.WishError, match=r"pulumi\.com/waitFor"):
        wishes.check({"metadata": {"annotations": {"pulumi.com/waitFor": wait}}})


def test_timeouts_come_from_the_option_then_the_annotation_then_the_kind() -> None:
    inputs = {"metadata": {"annotations": {"pulumi.com/timeoutSeconds": "30"}}}
    assert wishes.timeout(inputs, 5, 600) == 5
    assert wishes.timeout(inputs, 0, 600) == 30
    assert wishes.timeout({}, 0, 600) == 600
    with pytest.raises(wishes.WishError, match=r"timeoutSeconds"):
        wishes.check({"metadata": {"annotations": {"pulumi.com/timeoutSeconds": "1m"}}})


@pytest.mark.parametrize(
    ("asked", "policy"), [("orphan", "Orphan"), ("Background", "Background"), ("", "Foreground"), ("x", "Foreground")]
)
def test_the_propagation_policy(asked: str, policy: str) -> None:
    inputs = {"metadata": {"annotations": {"pulumi.com/deletionPropagationPolicy": asked}}}
    assert wishes.propagation_policy(inputs) == policy
