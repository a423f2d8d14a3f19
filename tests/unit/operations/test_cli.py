"""`slipway` as people call it: what it prints, what it writes, and how it ends."""

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from config import Settings
from operations import cli
from slurm.render import FILES, MARK, render

HOUSE = Path(__file__).parents[3]
STACK = """\
config:
  slipway:worker: {size: 2}
  slipway:images: {registry: registry.example.com/slipway, tag: "1"}
"""


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(STACK)
    return file


@pytest.fixture
def slipway(monkeypatch: pytest.MonkeyPatch):
    """Outside of any lab."""
    for name in [name for name in os.environ if name.startswith("SLIPWAY_")]:
        monkeypatch.delenv(name)

    def call(*words: str | Path) -> int:
        monkeypatch.setattr(sys, "argv", ["slipway", *map(str, words)])
        return cli.main()

    return call


def test_render_writes_what_the_stack_would_get(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    assert slipway("render", "--file", stack, "--out", tmp_path / "out") == 0
    written = {file.name: file.read_text() for file in (tmp_path / "out").iterdir()}
    assert written == render(Settings.from_stack_file(stack))
    assert str(tmp_path / "out" / "slurm.conf") in capsys.readouterr().out


def test_render_tells_programs_what_it_wrote(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    assert slipway("render", "--file", stack, "--out", tmp_path / "out", "--json") == 0
    told = json.loads(capsys.readouterr().out)["files"]
    assert sorted(told) == sorted(str(file) for file in (tmp_path / "out").iterdir())


def test_every_command_takes_json(slipway, capsys) -> None:
    """`preview` and `up` hand it on to pulumi."""
    with pytest.raises(SystemExit):
        slipway("--help")
    commands = capsys.readouterr().out.partition("{")[2].partition("}")[0].split(",")
    assert {"status", "render", "recover", "up"} <= {*commands}
    for command in {*commands} - {"preview", "up"}:
        with pytest.raises(SystemExit):
            slipway(command, "--help")
        assert "--json" in capsys.readouterr().out, command


@pytest.mark.parametrize("said", ["", "  slipway:slurm.cgroup: auto\n"])
def test_render_writes_what_the_stack_would_get_in_the_lab(
    slipway, stack: Path, tmp_path: Path, monkeypatch, said: str
) -> None:
    stack.write_text(STACK + said)
    monkeypatch.setenv("SLIPWAY_CGROUP", "disabled")
    assert slipway("render", "--file", stack, "--out", tmp_path / "out") == 0
    assert "CgroupPlugin=disabled\n" in (tmp_path / "out" / "cgroup.conf").read_text()
    stack.write_text(f"{STACK}  slipway:slurm.cgroup: v2\n")
    assert slipway("render", "--file", stack, "--out", tmp_path / "out") == 0
    assert "CgroupPlugin=cgroup/v2\n" in (tmp_path / "out" / "cgroup.conf").read_text()


def test_render_finds_a_stack_by_its_name(slipway, stack: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert slipway("render", "--stack", "x", "--out", "out") == 0
    assert (tmp_path / "out" / "slurm.conf").exists()


def test_render_lists_every_problem_and_writes_nothing(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    stack.write_text(STACK.replace("{size: 2}", "{size: many, cpu: 2}"))
    assert slipway("render", "--file", stack, "--out", tmp_path / "out") == 1
    said = capsys.readouterr().err
    assert "slipway:worker.size" in said
    assert "slipway:worker.cpu" in said
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_told_without_a_traceback(slipway, tmp_path: Path, capsys) -> None:
    assert slipway("render", "--file", tmp_path / "none.yaml", "--out", tmp_path / "out") == 1
    assert "none.yaml" in capsys.readouterr().err


def test_schema_is_the_one_that_editors_get_byte_for_byte(slipway, capsys) -> None:
    assert slipway("schema") == 0
    assert capsys.readouterr().out == (HOUSE / "config" / "schema.json").read_text()


def test_render_takes_away_what_an_earlier_one_has_left(slipway, stack: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    dynamic = tmp_path / "dynamic.yaml"
    dynamic.write_text(STACK.replace("{size: 2}", "{kind: dynamic, gres: {fpga: {}}}"))
    assert slipway("render", "--file", dynamic, "--out", out) == 0
    (out / "mpi.conf").write_text("# written by hand\n")
    (out / "notes.txt").write_text(f"# {MARK}\n")
    assert {"dynamic-nodes.conf", "gres.conf"} <= {file.name for file in out.iterdir()}
    assert slipway("render", "--file", stack, "--out", out) == 0
    expected = {*render(Settings.from_stack_file(stack)), "mpi.conf", "notes.txt"}
    assert {file.name for file in out.iterdir()} == expected


def test_every_file_that_we_render_says_so_at_its_top() -> None:
    for name in ("dev", "prod"):
        for file, text in render(Settings.from_stack_file(HOUSE / f"Pulumi.{name}.yaml")).items():
            assert file in FILES
            assert MARK in "".join(text.splitlines()[:2])


def test_a_folder_without_slurm_conf_is_no_cluster(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "empty").mkdir()
    assert slipway("plan", tmp_path / "empty", stack) == 1
    assert "there is no slurm.conf in it" in capsys.readouterr().err


def test_plan_compares_stack_files_and_rendered_folders_alike(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    new = tmp_path / "new.yaml"
    new.write_text(STACK.replace("size: 2", "size: 4"))
    assert slipway("render", "--file", stack, "--out", tmp_path / "old") == 0
    capsys.readouterr()
    assert slipway("plan", "--json", stack, new) == 0
    by_file = json.loads(capsys.readouterr().out)
    assert slipway("plan", "--json", tmp_path / "old", new) == 0
    assert json.loads(capsys.readouterr().out) == by_file
    assert by_file["class"] == "reconfigure"
    assert {"class", "object", "key", "old", "new", "reason", "commands"} == set(by_file["steps"][0])


def test_plan_of_nothing_is_none_and_a_refusal_is_an_exit_code(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    assert slipway("plan", "--json", stack, stack) == 0
    assert json.loads(capsys.readouterr().out) == {"class": "none", "steps": []}
    other = tmp_path / "other.yaml"
    other.write_text(STACK + "  slipway:cluster: {name: other}\n")
    assert slipway("plan", stack, other) == 1
    assert "ClusterName" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ("  slipway:cluster: {namespace: elsewhere}\n", "slipway:cluster.namespace"),
        ("  slipway:controller: {state: {storageClass: fast}}\n", "slipway:controller.state"),
        ("  slipway:storage: {jail: {hostPath: /srv/other}}\n", "slipway:storage.jail"),
    ],
)
def test_plan_refuses_what_a_preview_would_refuse(
    slipway, stack: Path, tmp_path: Path, capsys, more: str, key: str
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(STACK + more)
    assert slipway("plan", "--json", stack, other) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["class"] == "refused"
    assert (found["steps"][0]["class"], found["steps"][0]["key"]) == ("refused", key)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("slurm.conf", b"KillWait\n", "slurm.conf line 1"),
        ("slurm.conf", b"NodeName=n[0-\nPartitionName=p Nodes=n0\n", "hostlist 'n[0-'"),
        ("gres.conf", b"NodeName=n[0-1 Name=gpu\n", "hostlist 'n[0-1'"),
        ("notes.bin", b"\xff\xfe", "notes.bin is not text in UTF-8"),
    ],
)
def test_plan_says_on_which_side_something_is_wrong(
    slipway, stack: Path, tmp_path: Path, capsys, file: str, content: bytes, said: str
) -> None:
    folder = tmp_path / "out"
    assert slipway("render", "--file", stack, "--out", folder) == 0
    (folder / file).write_bytes(content)
    for which, sides in (("OLD", (folder, stack)), ("NEW", (stack, folder))):
        assert slipway("plan", *sides) == 1
        told = capsys.readouterr().err
        assert told.startswith(f"{which} ({folder}): ")
        assert said in told


def test_plan_says_which_stack_file_is_wrong(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(STACK.replace("size: 2", "size: many"))
    assert slipway("plan", stack, bad) == 1
    assert capsys.readouterr().err.startswith(f"NEW ({bad}): The stack config is not valid (1 problem):\n")


def test_plan_tells_of_a_new_key_though_it_is_in_no_file(slipway, stack: Path, tmp_path: Path, capsys) -> None:
    changed = tmp_path / "changed.yaml"
    changed.write_text(f"{STACK}  slipway:secrets.munge: 2\n")
    assert slipway("plan", stack, changed) == 0
    assert "drain-first  stack config  slipway:secrets.munge" in capsys.readouterr().out


def test_the_version_stands_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.command_line().parse_args(["--version"])
    assert not ended.value.code
    stated = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]["version"]
    assert capsys.readouterr().out == f"slipway {stated}\n"
