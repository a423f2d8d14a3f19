"""What a changed or wrong input of a local command means."""

from typing import Any

import pytest

from lab.plugins.command.inputs import changes, failures, with_defaults
from lab.plugins.server import UNKNOWN, Secret


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"create": "a"}, {"create": "a"}, {}),
        ({"create": "a"}, {"create": "b"}, {"create": "UPDATE"}),
        ({"create": "a"}, {"create": "a", "delete": "b"}, {"delete": "ADD"}),
        ({"create": "a", "stdin": "b"}, {"create": "a"}, {"stdin": "DELETE"}),
        ({"create": "a"}, {"create": UNKNOWN}, {"create": "UPDATE"}),
        ({"environment": {"A": "1", "B": "2"}}, {"environment": {"A": "1", "B": "3"}}, {"environment.B": "UPDATE"}),
        ({"environment": {"A": "1"}}, {"environment": {"B": "1"}}, {"environment.A": "DELETE", "environment.B": "ADD"}),
        ({"environment": {"A": "1"}}, {"environment": {"A": Secret("1")}}, {"environment.A": "UPDATE"}),
        ({"environment": {"A": Secret("1")}}, {"environment": {"A": Secret("1")}}, {}),
        ({"triggers": [1, 2]}, {"triggers": [1, 2]}, {}),
        ({"triggers": [1, 2]}, {"triggers": [1, 3]}, {"triggers[1]": "UPDATE_REPLACE"}),
        ({"triggers": [1, 2]}, {"triggers": [1]}, {"triggers[1]": "DELETE_REPLACE"}),
        ({"triggers": [1]}, {}, {"triggers": "DELETE_REPLACE"}),
        ({}, {"triggers": [1]}, {"triggers": "ADD_REPLACE"}),
        ({"triggers": [1]}, {"triggers": [True]}, {"triggers[0]": "UPDATE_REPLACE"}),
        ({"triggers": [{"a.b/c": 1}]}, {"triggers": [{"a.b/c": 2}]}, {'triggers[0]["a.b/c"]': "UPDATE_REPLACE"}),
        ({"triggers": [{"a": [1]}]}, {"triggers": [{"a": [2]}]}, {"triggers[0].a[0]": "UPDATE_REPLACE"}),
    ],
)
def test_changes_are_named_by_path_and_only_triggers_replace(
    old: dict[str, Any], new: dict[str, Any], expected: dict[str, str]
) -> None:
    assert dict(changes(old, new)) == expected


@pytest.mark.parametrize(
    "inputs",
    [
        {"create": "a", "environment": {"A": "b"}, "interpreter": ["sh"], "logging": "none", "triggers": [1, None]},
        {"create": UNKNOWN, "environment": UNKNOWN, "interpreter": [UNKNOWN], "logging": UNKNOWN},
        {"create": Secret("a"), "environment": Secret({"A": "b"}), "stdin": Secret(UNKNOWN)},
        {},
    ],
)
def test_right_inputs_pass(inputs: dict[str, Any]) -> None:
    assert list(failures(with_defaults(inputs))) == []


@pytest.mark.parametrize(
    ("inputs", "name", "reason"),
    [
        ({"create": 1}, "create", "must be a string, is a number"),
        ({"environment": {"A": True}}, "environment", "A must be a string, is a boolean"),
        ({"environment": ["A"]}, "environment", "must be a map, is a list"),
        ({"interpreter": "sh"}, "interpreter", "must be a list, is a string"),
        ({"addPreviousOutputInEnv": "yes"}, "addPreviousOutputInEnv", "must be true or false, is a string"),
    ],
)
def test_wrong_inputs_are_named(inputs: dict[str, Any], name: str, reason: str) -> None:
    assert list(failures(inputs)) == [(name, reason)]
