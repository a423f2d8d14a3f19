"""What changed between two sets of inputs, and whether that replaces the object."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.plugins.kubernetes.diff import Change, differences, parse, text
from lab.plugins.kubernetes.inputs import plan
from lab.plugins.kubernetes.options import Options
from lab.plugins.kubernetes.replace import forces_replacement, immutable_fields
from lab.plugins.server import UNKNOWN

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_NAMES = st.text(min_size=1, max_size=6, alphabet=st.sampled_from('ab.-/[]"_'))


def _paths(old: Any, new: Any) -> dict[str, Change]:
    return {text(item.path): item.change for item in differences(old, new)}


@given(_JSON)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert differences(value, value) == []


@given(st.lists(_NAMES | st.integers(0, 9), min_size=1, max_size=4).filter(lambda path: isinstance(path[0], str)))
def test_a_written_path_is_read_back(path: list[str | int]) -> None:
    assert parse(text(tuple(path))) == tuple(path)


def test_a_difference_is_as_deep_as_it_goes() -> None:
    old = {"data": {"slurm.conf": "a", "kept": "b"}, "items": [{"x": 1}, {"x": 2}]}
    new = {"data": {"slurm.conf": "c", "kept": "b", "new": "d"}, "items": [{"x": 1, "y": 2}]}
    assert _paths(old, new) == {
        'data["slurm.conf"]': Change.UPDATE,
        "data.new": Change.ADD,
        "items[0].y": Change.ADD,
        "items[1]": Change.DELETE,
    }


def test_empty_is_the_same_as_missing_and_true_is_not_one() -> None:
    assert _paths({"a": {}}, {"b": []}) == {}
    assert _paths({"a": 1}, {"a": True}) == {"a": Change.UPDATE}
    assert _paths({"a": 1}, {"a": 1.0}) == {}


def test_a_value_that_is_not_known_yet_counts_as_changed() -> None:
    assert _paths({"a": 1}, {"a": UNKNOWN}) == {"a": Change.UPDATE}


def _replaces(old: dict[str, Any], new: dict[str, Any], **options: bool) -> list[str]:
    chosen = {"config_map_mutable": False, "secret_mutable": False} | options
    immutable = immutable_fields(old, new, **chosen)
    return [text(item.path) for item in differences(old, new) if forces_replacement(item, immutable)]


def _of(kind: str, api_version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "y"}, **fields}


def test_identity_replaces_any_kind() -> None:
    old = _of("Thing", "example.com/v1")
    assert _replaces(old, old | {"metadata": {"name": "z", "namespace": "y"}}) == ["metadata.name"]
    assert _replaces(old, old | {"metadata": {"name": "x", "namespace": "z"}}) == ["metadata.namespace"]
    assert _replaces(old, old | {"apiVersion": "example.com/v2"}) == [], "another version of the same object"
    assert _replaces(old, old | {"apiVersion": "example.org/v1"}) == ["apiVersion"]


def test_what_comes_or_goes_replaces_if_it_contains_an_immutable_field() -> None:
    container = {"name": "a", "image": "i"}
    old = _of("Pod", spec={"containers": [container]})
    assert _replaces(old, _of("Pod", spec={"containers": [container, container]})) == ["spec.containers[1]"]
    assert _replaces(old, _of("Pod", spec={"containers": [container], "tolerations": [{}]})) == []
    assert _replaces(_of("StatefulSet", "apps/v1"), _of("StatefulSet", "apps/v1", spec={"serviceName": "a"})) == [
        "spec"
    ]


@pytest.mark.parametrize(
    ("kind", "flag", "field"), [("ConfigMap", "config_map_mutable", "data"), ("Secret", "secret_mutable", "stringData")]
)
def test_data_replaces_unless_it_is_mutable_and_not_sealed(kind: str, flag: str, field: str) -> None:
    old, new = _of(kind) | {field: {"k": "1"}}, _of(kind) | {field: {"k": "2"}}
    assert _replaces(old, new) == [f"{field}.k"]
    assert _replaces(old, new, **{flag: True}) == []
    sealed = {"immutable": True}
    assert _replaces(old | sealed, new | sealed, **{flag: True}) == [f"{field}.k"]
    assert _replaces(old | sealed, old, **{flag: True}) == ["immutable"]


def test_only_a_fixed_name_in_the_same_place_is_deleted_first() -> None:
    old, new = _of("ConfigMap", data={"k": "1"}), _of("ConfigMap", data={"k": "2"})
    assert plan(old, new, [], Options(), unready=False).deleteBeforeReplace
    moved = new | {"metadata": {"name": "x", "namespace": "z"}}
    assert not plan(old, moved, [], Options(), unready=False).deleteBeforeReplace
    named = {"metadata": {"name": "x", "namespace": "y", "annotations": {"pulumi.com/autonamed": "true"}}}
    assert not plan(old | named, new | named, [], Options(), unready=False).deleteBeforeReplace


def test_ignored_paths_are_no_changes() -> None:
    old, new = _of("Thing", spec={"a": {"b": 1}, "c": 1}), _of("Thing", spec={"a": {"b": 2}, "c": 2})
    assert list(plan(old, new, ["spec.a"], Options(), unready=False).detailedDiff) == ["spec.c"]
    assert not plan(old, new, ["spec"], Options(), unready=False).detailedDiff
