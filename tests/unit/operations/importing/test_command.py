"""`slipway import` as people call it: what it writes, prints and refuses."""

import io
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from config import Settings
from operations import cli

SOURCES = Path(__file__).parent / "sources"
CLUSTER = SOURCES / "slurm-cluster.yaml"


@pytest.fixture
def slipway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Outside of any lab, in an empty folder."""
    for name in [name for name in os.environ if name.startswith("SLIPWAY_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def call(*words: str | Path) -> int:
        monkeypatch.setattr(sys, "argv", ["slipway", *map(str, words)])
        return cli.main()

    return call


def test_the_stack_file_has_the_name_of_the_cluster(slipway, tmp_path: Path, capsys) -> None:
    assert slipway("import", CLUSTER) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["Pulumi.tides.yaml"]
    assert capsys.readouterr().out == "Pulumi.tides.yaml\n"
    settings = Settings.from_stack_file(tmp_path / "Pulumi.tides.yaml")
    assert (settings.cluster.name, settings.worker.size, settings.cluster.auth) == ("tides", 8, "munge")
    assert stat.S_IMODE((tmp_path / "Pulumi.tides.yaml").stat().st_mode) == 0o644


def test_the_stack_or_the_file_can_be_named(slipway, tmp_path: Path) -> None:
    assert slipway("import", CLUSTER, "--stack", "prod") == 0
    assert slipway("import", CLUSTER, "--output", tmp_path / "other.yaml") == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["Pulumi.prod.yaml", "other.yaml"]


def test_a_file_that_is_there_stays_unless_told_otherwise(slipway, tmp_path: Path, capsys) -> None:
    file = tmp_path / "Pulumi.tides.yaml"
    file.write_text("mine\n")
    assert slipway("import", CLUSTER) == 1
    assert "Pulumi.tides.yaml is there already; name another with --output" in capsys.readouterr().err
    assert file.read_text() == "mine\n"
    assert slipway("import", CLUSTER, "--force") == 0
    assert "slipway:worker" in file.read_text()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there_is_told(slipway, capsys) -> None:
    assert slipway("import", CLUSTER, "--output", "none/x.yaml") == 1
    assert "There is no folder none" in capsys.readouterr().err


def test_what_became_of_each_field_is_a_table_on_stderr(slipway, capsys) -> None:
    assert slipway("import", CLUSTER) == 0
    told = capsys.readouterr().err
    lines = {" ".join(line.split()) for line in told.splitlines()}
    assert "carried over spec.slurmNodes.worker.size worker.size" in lines
    assert any(line.startswith("unknown spec.brandNewField.deep.value Slipway knows no such field") for line in lines)
    assert any(line.startswith("left out spec.secrets secrets are not carried over") for line in lines)
    assert any("customSlurmConfig.FrobnicateJobs `FrobnicateJobs` is not a key of slurm.conf" in line for line in lines)
    assert "From Soperator: " in told
    assert "Before the first `slipway up`:" in told


def test_programs_are_told_the_same(slipway, capsys) -> None:
    assert slipway("import", CLUSTER, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {"output", "source", "fields", "todo"} == told.keys()
    rows = {row["field"]: row for row in told["fields"]}
    assert rows["spec.slurmNodes.worker.size"] == {
        "field": "spec.slurmNodes.worker.size",
        "outcome": "carried over",
        "into": "worker.size",
        "about": "",
    }
    assert any("images.registry" in each for each in told["todo"])


def test_a_source_may_come_through_a_pipe(slipway, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CLUSTER.read_bytes())))
    assert slipway("import", "-", "--stack", "piped") == 0
    assert (tmp_path / "Pulumi.piped.yaml").exists()


def test_values_as_helm_prints_them_are_read(slipway, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("USER-SUPPLIED VALUES:\nclusterName: x\nnodesets: {a: {replicas: 3}}\n")
    assert slipway("import", "values.yaml") == 0
    assert Settings.from_stack_file(tmp_path / "Pulumi.x.yaml").node_sets["a"].size == 3


BAD = {
    "nothing": ("", "there is no cluster in it"),
    "no YAML": ("a: [1,\nb: }", "line 2 is not YAML"),
    "a key twice": ("compute: {}\ncompute: {}\n", "`compute` is there twice"),
    "a circle": ("controller: &a {extraConf: *a}\n", "it is not plain YAML"),
    "a list": ("- a\n", "there are no keys and values in it"),
    "a word": ("hello\n", "there are no keys and values in it"),
    "other values": ("replicaCount: 1\nimage: nginx\n", "no values of a chart of Soperator or slurm-operator"),
    "another object": ("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", "there is no cluster in it"),
    "two clusters": (
        "apiVersion: slurm.nebius.ai/v1\nkind: SlurmCluster\nmetadata: {name: a}\n---\n"
        "apiVersion: slurm.nebius.ai/v1\nkind: SlurmCluster\nmetadata: {name: b}\n",
        "several objects of kind SlurmCluster (a, b)",
    ),
    "two operators": (
        "apiVersion: slurm.nebius.ai/v1\nkind: SlurmCluster\nmetadata: {name: a}\n---\nnodesets: {a: {}}\n",
        "this is of several operators",
    ),
    "objects and values": (
        "apiVersion: slurm.nebius.ai/v1\nkind: SlurmCluster\nmetadata: {name: a}\n---\nslurmNodes: {}\n",
        "say the same twice",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_source_is_told_and_nothing_is_written(slipway, tmp_path: Path, capsys, name: str) -> None:
    text, message = BAD[name]
    source = tmp_path / "source.yaml"
    source.write_text(text)
    assert slipway("import", source, "--stack", "x") == 1
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == [source]


def test_what_is_no_text_and_what_is_not_there_is_told(slipway, tmp_path: Path, capsys) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert slipway("import", "binary") == 1
    assert "binary: it is not text in UTF-8" in capsys.readouterr().err
    assert slipway("import", "none.yaml") == 1
    assert "none.yaml" in capsys.readouterr().err


def test_what_is_wrong_with_yaml_is_told_without_showing_it(slipway, tmp_path: Path, capsys) -> None:
    (tmp_path / "source.yaml").write_text("mariadb:\n  auth:\n    password: hunter2: [\n")
    assert slipway("import", "source.yaml") == 1
    assert "hunter2" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../x", "a/b", "a b", ""])
def test_a_stack_cannot_be_named_like_a_path(slipway, tmp_path: Path, capsys, name: str) -> None:
    (tmp_path / "values.yaml").write_text(f"clusterName: {name!r}\nnodesets: {{a: {{replicas: 3}}}}\n")
    if name:
        assert slipway("import", "values.yaml", "--stack", name) == 1
        assert "is no name for a stack" in capsys.readouterr().err
    assert slipway("import", "values.yaml") == 0
    assert all(file.parent == tmp_path for file in tmp_path.rglob("*"))
