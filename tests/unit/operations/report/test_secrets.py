"""Whatever the engine tells, no secret is shown: not where it is, and not where it is repeated."""

import base64
import json

import pytest

from operations.report import html, markdown
from operations.report.events import read
from operations.report.secrets import UNKNOWN
from tests.unit.operations.report.told import report, said, step, violation

VALUE = "correct-horse-battery"
MARKED = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": json.dumps(VALUE)}
NESTED = {**MARKED, "plaintext": json.dumps({"deep": [VALUE]})}
OF_KEYS = "kubernetes:core/v1:Secret"
COMMAND = "command:local:Command"
KEY = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{VALUE}\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        (COMMAND, {"stdin": MARKED}),
        (COMMAND, {"environment": {"A": NESTED}}),
        (OF_KEYS, {"stringData": {"munge.key": VALUE}}),
        (OF_KEYS, {"data": {"munge.key": base64.b64encode(VALUE.encode()).decode()}}),
        (OF_KEYS, {"data": MARKED}),
        (COMMAND, {"environment": {"DB_PASSWORD": VALUE}}),
        ("kubernetes:apps/v1:StatefulSet", {"spec": {"env": [{"name": "API_TOKEN", "value": VALUE}]}}),
        ("kubernetes:core/v1:ConfigMap", {"data": {"slurmdbd.conf": f"StorageUser=x\nStoragePass={VALUE}\n"}}),
        ("kubernetes:core/v1:ConfigMap", {"data": {"id": KEY}}),
    ],
    ids=["marked", "nested", "stringData", "data", "all data", "variable", "container", "slurmdbd.conf", "key"],
)
@pytest.mark.parametrize("operation", ["create", "update", "replace", "delete"])
def test_a_secret_is_shown_nowhere(operation: str, kind: str, inputs: dict[str, object]) -> None:
    old = None if operation == "create" else {**inputs, "other": "before"}
    new = None if operation == "delete" else {**inputs, "other": "after"}
    found = report(step(operation, kind, "thing", old, new))
    for shown in (markdown.render(found), html.render(found)):
        assert VALUE not in shown
        assert base64.b64encode(VALUE.encode()).decode() not in shown
        assert "thing" in shown


def test_a_changed_secret_is_told_as_such_without_either_value() -> None:
    old, new = {"stringData": {"a": "first-one"}}, {"data": MARKED}
    shown = markdown.render(report(step("update", OF_KEYS, "keys", old, new)))
    assert "first-one" not in shown
    assert VALUE not in shown
    assert "(hidden)" in shown


@pytest.mark.parametrize("where", ["error", "warning", "violation"])
def test_a_known_secret_is_hidden_in_what_others_say_too(where: str) -> None:
    text = f"could not log in with {VALUE} at db"
    event = violation(text) if where == "violation" else said(text, where)
    shown = markdown.render(report(event, step("create", COMMAND, "thing", None, {"stdin": MARKED})))
    assert VALUE not in shown
    assert "could not log in with (hidden) at db" in shown


def test_a_private_key_in_an_error_is_hidden_though_nobody_marked_it() -> None:
    assert VALUE not in markdown.render(report(said(f"bad key:\n{KEY}", "error")))


def test_what_only_sounds_like_a_secret_stays() -> None:
    inputs = {"secretName": "slurm-keys", "automountServiceAccountToken": False, "munge": {"key": "munge.key"}}
    shown = markdown.render(report(step("create", "kubernetes:apps/v1:StatefulSet", "x", None, inputs)))
    assert "secretName: slurm-keys" in shown
    assert "automountServiceAccountToken: false" in shown


def test_what_is_not_known_yet_is_said_in_words() -> None:
    inputs = {"environment": {"SLIPWAY_WRITTEN": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}}
    preview = read([step("create", COMMAND, "apply", None, inputs)])
    assert preview.resources[0].new == {"environment": {"SLIPWAY_WRITTEN": UNKNOWN}}
