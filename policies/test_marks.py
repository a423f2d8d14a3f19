"""What pulumi-policy hands to a rule, through its own server."""

from typing import Any

import pulumi_policy.policy
import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import deserialize

from policies import marks
from policies.examples import UNKNOWN
from policies.reading import Resource, Stack
from policies.rule import Rule


def secret(value: Any) -> dict[str, Any]:
    return {deserialize.SPECIAL_SIG_KEY: deserialize.SPECIAL_SECRET_SIG, "value": value}


def analyze(check: Any, props: dict[str, Any]) -> list[Any]:
    """The diagnostics that the engine would get."""
    rule = Rule("rule", "What it is about.", check, "rule.md")
    level = pulumi_policy.EnforcementLevel.MANDATORY
    server = pulumi_policy.policy._PolicyAnalyzerServicer("pack", "0.0.1", [rule.policy(Stack())], level)
    request = analyzer_pb2.AnalyzeRequest(type="a:b:C", name="c", urn="urn:c")
    request.properties.CopyFrom(json_format.ParseDict(props, struct_pb2.Struct()))
    return list(server.Analyze(request, None).diagnostics)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    before = vars(pulumi_policy.policy)["deserialize_properties"]
    monkeypatch.setattr(pulumi_policy.policy, "deserialize_properties", before)  # put back after the test
    marks.keep()


@pytest.mark.usefixtures("kept")
def test_a_rule_sees_which_texts_are_secret() -> None:
    seen: dict[str, Any] = {}

    def check(resource: Resource, *_: Any) -> Any:
        seen.update(
            plain=resource.props["plain"], marked=resource.props["marked"], inside=resource.props["object"]["a"]
        )
        return iter(())

    props = {"plain": "one", "marked": secret("two"), "object": secret({"a": ["three"]})}
    assert analyze(check, props) == []
    assert {key: str(value) for key, value in seen.items() if key != "inside"} == {"plain": "one", "marked": "two"}
    assert not isinstance(seen["plain"], marks.Marked)
    assert isinstance(seen["marked"], marks.Marked)
    assert isinstance(seen["inside"][0], marks.Marked)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("value", [UNKNOWN, secret(UNKNOWN)])
def test_a_mandatory_rule_that_reads_an_unknown_value_stays_mandatory(value: Any) -> None:
    def check(resource: Resource, *_: Any) -> Any:
        yield resource.props["text"]

    [said] = analyze(check, {"text": value})
    assert said.enforcementLevel == analyzer_pb2.MANDATORY
    assert "C c: `text` is known only after the update" in said.message
