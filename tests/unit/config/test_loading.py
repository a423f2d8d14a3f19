"""Dotted and nested keys mean the same, and every problem of a config is told at once."""

import contextlib
import json
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config import ConfigProblems, Problem, Settings
from config.images import ROLES
from config.loading import load_entries
from config.paths import Path as Steps
from config.paths import resolve, spelled

few = hypothesis.settings(max_examples=30)  # each of these reads a whole production environment

HOUSE = Path(__file__).parents[3]
LAB = {f"SLIPWAY_{role.upper()}_IMAGE": f"localhost/{role}:1" for role in ROLES}


def problems(stack: dict[str, str]) -> list[Problem]:
    with pytest.raises(ConfigProblems) as raised:
        Settings.load({f"slipway:{key}": text for key, text in stack.items()}, LAB)
    return list(raised.value.problems)


def leaves(value: Any, path: Steps = ()) -> list[tuple[Steps, Any]]:
    """Every value at the end of a path; empty containers too."""
    if isinstance(value, dict) and value:
        return [leaf for name, member in value.items() for leaf in leaves(member, (*path, name))]
    if isinstance(value, list) and value:
        return [leaf for index, member in enumerate(value) for leaf in leaves(member, (*path, index))]
    return [(path, value)]


PROD = Settings.from_stack_file(HOUSE / "Pulumi.prod.yaml")
WRITTEN = PROD.model_dump(mode="json", by_alias=True, exclude_unset=True)
LEAVES = leaves(WRITTEN)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def without(value: Any, gone: set[Steps], path: Steps = ()) -> Any:
    """A nested value without some of its leaves, and without the lists that lost one."""
    if isinstance(value, dict):
        members = {name: without(member, gone, (*path, name)) for name, member in value.items()}
        return {name: member for name, member in members.items() if (*path, name) not in gone}
    return value


@few
@given(st.data())
def test_any_fields_may_be_dotted_and_the_others_nested(data: st.DataObject) -> None:
    movable = [path for path, _ in LEAVES if not any(isinstance(step, int) for step in path)]
    moved = set(data.draw(st.lists(st.sampled_from(movable), unique=True)))
    entries: dict[str, Any] = {name: json.dumps(part) for name, part in without(WRITTEN, moved).items()}
    entries |= {spelled(path): as_text(value) for path, value in LEAVES if path in moved}
    assert load_entries(entries) == PROD


def test_every_field_may_be_dotted_even_inside_lists() -> None:
    assert load_entries({spelled(path): as_text(value) for path, value in LEAVES}) == PROD


@few
@given(st.data())
def test_a_container_at_any_depth_may_be_a_dotted_key(data: st.DataObject) -> None:
    path, _ = data.draw(st.sampled_from([leaf for leaf in LEAVES if len(leaf[0]) > 1]))
    depth = data.draw(st.integers(1, len(path)))
    place = path[:depth]
    part: Any = WRITTEN
    for step in place:
        part = part[step]
    others = {spelled(steps): as_text(value) for steps, value in LEAVES if steps[:depth] != place}
    assert load_entries({**others, spelled(place): as_text(part)}) == PROD


@few
@given(st.sampled_from(LEAVES))
def test_a_field_that_is_set_in_both_ways_is_an_error_that_names_both(leaf: tuple[Steps, Any]) -> None:
    path, value = leaf
    entries = {name: json.dumps(part) for name, part in WRITTEN.items()}
    with pytest.raises(ConfigProblems) as raised:
        load_entries({**entries, spelled(path): as_text(value)})
    [problem] = raised.value.problems
    assert f"`slipway:{path[0]}`" in problem.message
    assert f"`slipway:{spelled(path)}`" in problem.message


@given(st.sampled_from(LEAVES))
def test_a_path_that_is_spelled_out_resolves_to_itself(leaf: tuple[Steps, Any]) -> None:
    path, _ = leaf
    assert resolve(spelled(path), Settings)[0] == path


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("worker.size", ("worker", "size")),
        ("users[0].name", ("users", 0, "name")),
        ("users.0.sshKeys.1", ("users", 0, "sshKeys", 1)),
        ('nodeSets["gpu"].size', ("nodeSets", "gpu", "size")),
        ("nodeFilters.a.nodeSelector.kubernetes.io/arch", ("nodeFilters", "a", "nodeSelector", "kubernetes.io/arch")),
        ('nodeFilters.a.nodeSelector["a.b/c"]', ("nodeFilters", "a", "nodeSelector", "a.b/c")),
        ("login.service.annotations.a.b/c.d", ("login", "service", "annotations", "a.b/c.d")),
        ("nodeFilters.a.affinity.x.0.y", ("nodeFilters", "a", "affinity", "x", 0, "y")),
        ("partitions.7.maxTime", ("partitions", "7", "maxTime")),
    ],
)
def test_a_dotted_key_ends_a_name_where_the_settings_do(key: str, path: Steps) -> None:
    assert resolve(key, Settings)[0] == path


@pytest.mark.parametrize("key", [".worker", "worker.", "a..b", "[0]", "users[a]", "users[0]name", "users.[0]"])
def test_what_is_no_path_is_told_apart(key: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- the words are those of the caller
        resolve(key, Settings)


def test_text_is_read_as_yaml_would_unless_the_setting_is_text() -> None:
    stack = {
        "slipway:worker.size": "4",
        "slipway:controller.standby": "true",
        "slipway:cluster.namespace": "123",
        "slipway:nodeFilters": '{"system": {}, "compute": {"nodeSelector": {"gpu": true, "rack": 7, "x": "08"}}}',
        "slipway:login.service.annotations.example.com/json": '{"a": 1}',
        "slipway:worker.features": '["a", "b"]',
    }
    settings = Settings.load(stack, LAB)
    assert settings.worker.size == 4
    assert settings.controller.standby is True
    assert settings.cluster.namespace == "123"
    assert settings.node_filters["compute"].node_selector == {"gpu": "true", "rack": "7", "x": "08"}
    assert settings.login.service.annotations == {"example.com/json": '{"a": 1}'}
    assert settings.worker.features == ["a", "b"]


@pytest.mark.parametrize(
    ("key", "text", "found"),
    [
        ("worker.features", "[a, b]", lambda settings: settings.worker.features == ["a", "b"]),
        ("worker.features", "[]", lambda settings: settings.worker.features == []),
        ("worker.features", "null", lambda settings: settings.worker.features == []),
        ("worker", "{size: 4, cpus: 0x10}", lambda settings: (settings.worker.size, settings.worker.cpus) == (4, 16)),
        ("worker", "size: 4", lambda settings: settings.worker.size == 4),
        ("worker", "~", lambda settings: settings.worker == Settings().worker),
        ("worker.size", "0x10", lambda settings: settings.worker.size == 16),
        ("worker.size", "0o17", lambda settings: settings.worker.size == 15),
        ("worker.size", "010", lambda settings: settings.worker.size == 8),
        ("worker.size", "1_000", lambda settings: settings.worker.size == 1000),
        ("worker.size", "null", lambda settings: settings.worker.size == 1),
        ("worker.realMemory", "null", lambda settings: settings.worker.real_memory is None),
        ("controller.standby", "True", lambda settings: settings.controller.standby),
        ("users", "[{name: alice, uid: 10001}]", lambda settings: settings.users[0].name == "alice"),
        ("cluster.name", "null", lambda settings: settings.cluster.name == "null"),
        ("slurm.extra.TmpFS", "null", lambda settings: settings.slurm.extra == {"TmpFS": "null"}),
        ("slurm.extra.LogTimeFormat", "[x]", lambda settings: settings.slurm.extra == {"LogTimeFormat": "[x]"}),
    ],
)
def test_text_stands_for_what_yaml_reads_in_it_where_text_is_not_wanted(key: str, text: str, found: Any) -> None:
    assert found(Settings.load({f"slipway:{key}": text}, LAB))


@pytest.mark.parametrize("text", ["[&a *a]", "[a", "{size: 4, size: 5}", "", "!!python/name:x", "# nothing"])
def test_text_that_yaml_cannot_read_stays_text(text: str) -> None:
    assert [problem.key for problem in problems({"worker": text})] == ["slipway:worker"]


def test_values_of_slurm_keys_are_joined_and_spelled_as_slurm_wants_them() -> None:
    extra = {
        "SchedulerParameters": ["bf_continue", "bf_window=2880"],
        "UsePAM": True,
        "MaxJobCount": 5,
        "LogTimeFormat": "[x]",
    }
    settings = Settings.load({"slipway:slurm": json.dumps({"extra": extra})}, LAB)
    assert settings.slurm.extra == {
        "SchedulerParameters": "bf_continue,bf_window=2880",
        "UsePAM": "yes",
        "MaxJobCount": "5",
        "LogTimeFormat": "[x]",
    }
    dotted = {"slipway:slurm.extra.SchedulerParameters": '["bf_continue", "bf_window=2880"]'}
    assert Settings.load(dotted, LAB).slurm.extra == {"SchedulerParameters": "bf_continue,bf_window=2880"}


def test_words_of_slurm_may_be_written_in_any_case_and_as_yaml_mistakes_them() -> None:
    stack = {
        "slipway:partitions.main": '{"default": true, "state": "down", "overSubscribe": false, "preemptMode": false}'
    }
    main = Settings.load(stack, LAB).partitions["main"]
    assert (main.state, main.over_subscribe, main.preempt_mode) == ("DOWN", "NO", "OFF")


def test_a_key_with_nothing_after_it_says_nothing_but_a_name_is_a_name() -> None:
    stack = {"slipway:worker": '{"topology": null, "features": null}', "slipway:nodeSets": '{"gpu": null}'}
    settings = Settings.load(stack, LAB)
    assert settings.worker == Settings().worker
    assert settings.node_sets["gpu"].size == 1


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        {
            "clustr": "x",
            "worker.size": "many",
            "worker": '{"size": 2, "nodeFilter": "gpu"}',
            "partitions": '{"main": {"nodeSets": ["wrker"], "default": true, "maxTime": "soon"}}',
            "users": '[{"name": "a b", "uid": 10001}, {"name": "bob", "uid": 10002}, {"name": "bob", "uid": 10003}]',
            "slurm": '{"extra": {"AuthType": "x", "TmpFS": "a\\nb"}}',
            "bridge": '{"enabled": true, "managedNamespaces": ["batch"], "nodeSets": ["worker"]}',
        }
    )
    assert sorted(problem.key for problem in found) == [
        "slipway:bridge.enabled",
        "slipway:clustr",
        "slipway:partitions.main.maxTime",
        "slipway:partitions.main.nodeSets.0",
        "slipway:slurm.extra.AuthType",
        "slipway:slurm.extra.TmpFS",
        "slipway:users.0.name",
        "slipway:users.2.name",
        "slipway:worker.nodeFilter",
        "slipway:worker.size",
        "slipway:worker.size",
    ]


def test_a_problem_counts_list_entries_as_the_user_did() -> None:
    keys = ["ssh-ed25519 " + "A" * 44, "x", "ssh-ed25519 " + "A" * 44]
    users = [{"name": "a b", "uid": 1}, {"name": "alice", "uid": 10001, "sshKeys": keys, "groups": ["ghosts"]}]
    found = problems({"users": json.dumps(users)})
    assert [problem.key for problem in found] == [
        "slipway:users.0.name",
        "slipway:users.0.uid",
        "slipway:users.1.sshKeys.1",
        "slipway:users.1.groups.0",
        "slipway:users.1.sshKeys.2",
    ]


def test_what_rests_on_a_value_that_could_not_be_read_is_not_a_problem_of_its_own() -> None:
    stack = {
        "users": '[{"name": "alice"}]',
        "accounting": '{"enabled": true, "administrators": ["alice"]}',
        "partitions": '{"main": {"default": "perhaps"}}',
        "worker": '{"cpus": "x", "sockets": 2, "coresPerSocket": 4}',
    }
    assert sorted(problem.key for problem in problems(stack)) == [
        "slipway:partitions.main.default",
        "slipway:users.0.uid",
        "slipway:worker.cpus",
    ]


def test_a_problem_names_its_key_as_the_user_wrote_it() -> None:
    assert [problem.key for problem in problems({"worker.sise": "1"})] == ["slipway:worker.sise"]
    assert [problem.key for problem in problems({"worker": '{"sise": 1}'})] == ["slipway:worker.sise"]
    assert [problem.key for problem in problems({'nodeSets["gpu"].size': "x"})] == ['slipway:nodeSets["gpu"].size']
    assert "slipway:users[0].uid" in [problem.key for problem in problems({"users[0].uid": "x", "users[0].name": "a"})]


def test_the_report_is_one_line_for_each_problem() -> None:
    with pytest.raises(ConfigProblems) as raised:
        Settings.load({"slipway:clustr": "x", "slipway:worker.size": "x"}, LAB)
    first, *lines = str(raised.value).splitlines()
    assert first == "The stack config is not valid (2 problems):"
    assert [line.split(": ")[0] for line in lines] == ["  slipway:worker.size", "  slipway:clustr"]


@given(
    st.dictionaries(st.text(max_size=20), st.one_of(st.text(max_size=20), st.just("{}"), st.just("[]"), st.just("{")))
)
def test_no_config_whatever_ends_in_anything_but_settings_or_problems(stack: dict[str, str]) -> None:
    with contextlib.suppress(ConfigProblems):
        Settings.load({f"slipway:{key}": text for key, text in stack.items()}, LAB)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@few
@given(path=st.sampled_from([path for path, _ in LEAVES]), value=JSON, depth=st.integers(1, 6))
def test_no_value_in_any_place_ends_in_anything_but_settings_or_problems(path: Steps, value: Any, depth: int) -> None:
    entries = {spelled(steps): as_text(each) for steps, each in LEAVES if steps[:depth] != path[:depth]}
    with contextlib.suppress(ConfigProblems):
        load_entries({**entries, spelled(path[:depth]): value})


def test_scripts_may_have_lines_and_arrive_as_they_are_written() -> None:
    script = "-- first\nfunction slurm_job_submit()\n\treturn 0\nend"
    nested = {"slipway:slurm": json.dumps({"jobSubmitLua": script, "mail": {"program": "#!/bin/sh\n{ true; }\n"}})}
    for entries in (nested, {"slipway:slurm.jobSubmitLua": script}):
        loaded = Settings.load({**entries, "slipway:images.registry": "registry.example.com"}, {})
        assert loaded.slurm.job_submit_lua == script + "\n"
    loaded = Settings.load({**nested, "slipway:images.registry": "registry.example.com"}, {})
    assert loaded.slurm.mail
    assert loaded.slurm.mail.program == "#!/bin/sh\n{ true; }\n"
