"""What is stored: secrets, names, drift, and the books of server-side apply."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.plugins.kubernetes import checkpoint, drift, names, ownership
from lab.plugins.kubernetes.operations import leave
from lab.plugins.server import UNKNOWN, Secret, plain


def test_secrets_are_marked_where_they_were_given() -> None:
    given_ = {"kind": "ConfigMap", "data": {"open": "1", "hidden": Secret("2")}, "list": ["a", Secret("b")]}
    live = {"kind": "ConfigMap", "data": {"open": "1", "hidden": "2", "more": "3"}, "list": ["b", "a"]}
    assert checkpoint.to_properties(plain(given_), given_, same_shape=True) == given_
    marked = checkpoint.to_properties(live, given_)
    assert marked["data"] == {"open": "1", "hidden": Secret("2"), "more": "3"}
    assert marked["list"] == Secret(["b", "a"]), "elements may have changed places"
    assert plain(marked) == live


def test_the_data_of_a_secret_is_always_secret_and_the_state_can_be_read_back() -> None:
    inputs = {"apiVersion": "v1", "kind": "Secret", "stringData": {"k": "v"}}
    live = {"apiVersion": "v1", "kind": "Secret", "data": {"k": "dg=="}, "metadata": {"uid": "u"}}
    state = checkpoint.checkpoint(live, inputs, inputs, "pulumi-kubernetes-1", "v1")
    assert state["data"] == Secret({"k": "dg=="})
    assert state["__inputs"]["stringData"] == Secret({"k": "v"})
    assert checkpoint.live_of(state) == live
    assert checkpoint.inputs_of(state) == inputs
    assert checkpoint.field_manager_of(state) == "pulumi-kubernetes-1"


def test_a_definition_is_spelled_with_dashes_on_the_server_and_without_in_the_sdk() -> None:
    given_ = {"kind": "CustomResourceDefinition", "spec": {"x_kubernetes_list_type": "map", "y": None}}
    obj = checkpoint.to_object(given_)
    assert obj == {"kind": "CustomResourceDefinition", "spec": {"x-kubernetes-list-type": "map"}}
    assert checkpoint.to_properties(obj, given_)["spec"] == {"x_kubernetes_list_type": "map"}


_OBJECTS = st.recursive(
    st.text(max_size=3) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), _OBJECTS), st.dictionaries(st.text(max_size=3), _OBJECTS))
def test_inputs_stay_as_they_are_while_the_live_object_does(inputs: dict[str, Any], live: dict[str, Any]) -> None:
    assert drift.follow(inputs, live, live) == inputs


def test_inputs_follow_only_what_changed() -> None:
    inputs = {"memory": "1024Mi", "dropped": 1, "list": [{"name": "a", "v": "1000m"}, {"name": "b", "v": 2}], "gone": 1}
    before = {"memory": "1Gi", "list": [{"name": "a", "v": "1"}, {"name": "b", "v": 2}], "gone": 1, "default": 1}
    now = {"memory": "1Gi", "list": [{"name": "c"}, {"name": "b", "v": 3}, {"name": "a", "v": "1"}], "default": 2}
    assert drift.follow(inputs, before, now) == {
        "memory": "1024Mi",
        "dropped": 1,
        "list": [{"name": "a", "v": "1000m"}, {"name": "b", "v": 3}],
    }


def test_written_strings_follow_the_encoded_data() -> None:
    def data(**values: str) -> dict[str, Any]:
        return {"data": {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}}

    inputs = {"stringData": {"a": "1", "b": "2", "c": "3"}}
    followed = drift.follow(inputs, data(a="1", b="2", c="3"), data(a="1", b="changed"))
    assert followed == {"stringData": {"a": "1", "b": "changed"}}


def test_names_are_given_once_and_only_where_there_is_none() -> None:
    obj: dict[str, Any] = {}
    names.assign(obj, "web", b"seed")
    assert obj["metadata"]["name"] == names.unique("web-", b"seed")
    assert names.is_autonamed(obj)
    again: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}}
    names.adopt(again, obj)
    assert again["metadata"]["name"] == obj["metadata"]["name"]
    for metadata in ({"name": "fixed"}, {"name": UNKNOWN}, {"generateName": "web-"}):
        given_ = {"metadata": dict(metadata)}
        names.assign(given_, "web", b"")
        names.adopt(given_, obj)
        assert given_["metadata"] == metadata
    unknown = {"metadata": UNKNOWN}
    names.assign(unknown, "web", b"")
    assert unknown["metadata"] is UNKNOWN
    with pytest.raises(names.NameMissing):
        names.assign({}, "web", b"", disabled=True)


def _managed(*entries: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    fields = [{"manager": who, "operation": how, "fieldsV1": tree} for who, how, tree in entries]
    return {
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7", "managedFields": fields, "finalizers": ["a", "b"]},
        "spec": {"replicas": 3, "containers": [{"name": "x", "image": "i", "tty": False}, {"name": "y"}]},
    }


def test_what_was_applied_is_read_from_the_books() -> None:
    tree = {
        "f:metadata": {"f:finalizers": {'v:"a"': {}}},
        "f:spec": {"f:containers": {'k:{"name":"x"}': {".": {}, "f:name": {}, "f:image": {}}}},
    }
    assert ownership.applied(_managed(("me", "Apply", tree), ("other", "Update", {"f:spec": {}}))) == {
        "metadata": {"finalizers": ["a"]},
        "spec": {"containers": [{"name": "x", "image": "i"}]},
    }
    assert ownership.applied(_managed(("other", "Update", tree))) is None


def test_fields_of_kubectl_are_taken_over_and_those_of_controllers_are_not() -> None:
    live = _managed(
        ("kubectl-client-side-apply", "Update", {"f:data": {"f:a": {}}}),
        ("me", "Apply", {"f:data": {"f:b": {}}}),
        ("controller", "Update", {"f:data": {"f:c": {}}}),
    )
    patch = ownership.adoption(live, "me")
    assert patch
    assert patch[0]["value"] == "7"
    managers = {entry["manager"]: entry["fieldsV1"] for entry in patch[1]["value"]}
    assert managers == {"me": {"f:data": {"f:a": {}, "f:b": {}}}, "controller": {"f:data": {"f:c": {}}}}
    assert ownership.adoption(_managed(("controller", "Update", {"f:data": {}})), "me") is None


def test_an_ignored_field_is_left_to_its_manager_or_as_it_is() -> None:
    inputs = {"spec": {"replicas": 1, "other": 1}}
    theirs = _managed(("hpa", "Update", {"f:spec": {"f:replicas": {}}}))
    assert leave(inputs, theirs, "me", ["spec.replicas"]) == {"spec": {"other": 1}}
    mine = _managed(("me", "Apply", {"f:spec": {"f:replicas": {}}}))
    assert leave(inputs, mine, "me", ["spec.replicas"]) == {"spec": {"replicas": 3, "other": 1}}
    assert leave(inputs, mine, "me", ["spec.missing", "spec.list[0]"]) == inputs
