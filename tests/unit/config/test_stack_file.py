"""A stack file is read as the engine would read it."""

from pathlib import Path

import pytest

from config import ConfigProblems, Settings
from config.stack_file import load_stack_file


def read(folder: Path, text: str) -> Settings:
    file = folder / "Pulumi.test.yaml"
    file.write_text(text, encoding="utf-8")
    return Settings.from_stack_file(file)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigProblems) as raised:
        read(folder, text)
    return str(raised.value)


def test_a_file_without_config_gives_the_defaults(tmp_path: Path) -> None:
    assert read(tmp_path, "") == read(tmp_path, "config:") == read(tmp_path, "encryptionsalt: x") == Settings()


def test_nested_and_dotted_keys_are_read(tmp_path: Path) -> None:
    text = """
config:
  kubernetes:context: other
  slipway:worker: {cpus: 2}
  slipway:worker.size: 3
  slipway:users[0].name: alice
  slipway:users[0].uid: "10001"
  slipway:nodeSets:
    gpu:
  slipway:rest:
"""
    settings = read(tmp_path, text)
    assert (settings.worker.size, settings.worker.cpus) == (3, 2)
    assert settings.users[0].uid == 10001
    assert list(settings.node_sets) == ["gpu"]


def test_plain_values_are_what_the_engine_takes_them_for(tmp_path: Path) -> None:
    text = """
config:
  slipway:partitions:
    main: {default: true, maxTime: 24:00:00, defaultTime: 30:00, overSubscribe: NO, preemptMode: OFF, state: Up}
  slipway:cluster: {name: yes}
  slipway:slurm: {extra: {Licenses: 2030-01-01}}
"""
    settings = read(tmp_path, text)
    main = settings.partitions["main"]
    assert (str(main.max_time), str(main.default_time)) == ("1-00:00:00", "00:30:00")
    assert (main.over_subscribe, main.preempt_mode, main.state) == ("NO", "OFF", "UP")
    assert settings.cluster.name == "yes"
    assert settings.slurm.extra["Licenses"] == "2030-01-01"


def test_anchors_and_merges_work(tmp_path: Path) -> None:
    text = """
config:
  slipway:nodeSets:
    a: &a {cpus: 2, memory: 2Gi}
    b: {<<: *a, cpus: 4}
"""
    settings = read(tmp_path, text)
    assert (settings.node_sets["b"].cpus, str(settings.node_sets["b"].memory)) == (4, "2Gi")


def test_a_key_without_a_namespace_belongs_to_the_project(tmp_path: Path) -> None:
    assert read(tmp_path, "config: {worker.size: 3}").worker.size == 3
    both = "config: {worker.size: 3, 'slipway:worker.size': 3}"
    assert "slipway:worker.size: means the same as `worker.size`; keep one" in refused(tmp_path, both)


def test_only_the_first_colon_of_a_key_ends_its_namespace(tmp_path: Path) -> None:
    text = """
config:
  slipway:accounting.enabled: true
  slipway:worker.gpus: {count: 1, type: a100}
  slipway:partitions.main.default: true
  slipway:partitions.main.tresBillingWeights.GRES/gpu:a100: 4
  other:slipway:worker.size: 9
"""
    settings = read(tmp_path, text)
    assert settings.partitions["main"].tres_billing_weights == {"GRES/gpu:a100": "4"}
    assert settings.worker.size == 1


def test_the_older_form_of_a_key_is_the_same_key(tmp_path: Path) -> None:
    assert read(tmp_path, "config: {'slipway:config:worker.size': 3}").worker.size == 3
    both = "config: {'slipway:config:worker.size': 3, 'slipway:worker.size': 3}"
    assert "slipway:worker.size: means the same as `slipway:config:worker.size`" in refused(tmp_path, both)


def test_the_project_may_have_another_name(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text("config: {'hpc:worker.size': x, 'slipway:worker.size': y}")
    with pytest.raises(ConfigProblems, match=r"hpc:worker\.size: 'x' is not a whole number"):
        load_stack_file(file, project="hpc")


def test_encrypted_values_are_reported_as_unreadable(tmp_path: Path) -> None:
    text = """
config:
  slipway:cluster.name: {secure: v1:abc}
  slipway:worker: {features: [a, {secure: v1:def}]}
  other:password: {secure: v1:ghi}
"""
    said = refused(tmp_path, text)
    assert "slipway:cluster.name: is encrypted" in said
    assert "slipway:worker.features.1: is encrypted" in said
    assert "(2 problems)" in said


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("config: [", "is not YAML"),
        ("config: {a: 1, a: 2}", "`a` is there twice"),
        ("config: 5", "is not a stack file"),
        ("- a", "is not a stack file"),
        ("config: {a: !!python/object:x {}}", "is not YAML"),
        ("config: {a: \x00}", "is not YAML"),
    ],
)
def test_what_is_no_stack_file_is_one_clear_problem(tmp_path: Path, text: str, fragment: str) -> None:
    said = refused(tmp_path, text)
    assert fragment in said
    assert "Pulumi.test.yaml" in said


def test_a_file_that_is_not_there_is_the_callers_problem(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Settings.from_stack_file(tmp_path / "Pulumi.none.yaml")


def test_a_file_that_is_nested_without_end_is_told_without_a_traceback(tmp_path: Path) -> None:
    deep = "config: {slipway:nodeFilters: {system: {}, compute: {affinity: " + "{a: " * 900 + "1" + "}" * 903
    assert "nested too deeply" in refused(tmp_path, deep)


def test_a_key_without_a_name_is_no_setting(tmp_path: Path) -> None:
    assert "slipway:: is not a path" in refused(tmp_path, "config: {'slipway:': {worker: {size: 2}}}")
    assert "slipway:: is not a path" in refused(tmp_path, "config: {'': 3}")
