"""`slipway ssh` and `slipway tour`, with stand-ins for the programs that they start."""

import json
import sys
from pathlib import Path

import pytest

from operations import administration, cli


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program of this name first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")

    def make(name: str, text: str, where: Path = folder) -> None:
        where.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(f"#!/bin/sh\n{text}\n")
        (where / name).chmod(0o755)

    return make


@pytest.fixture
def slipway(monkeypatch: pytest.MonkeyPatch, program):
    monkeypatch.delenv("SLIPWAY_LAB_SSH_KEY", raising=False)
    program("pulumi", 'case "$2" in output) echo "ssh -p 30022 ada@192.0.2.7" ;; *) echo dev ;; esac')

    def call(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["slipway", *words])
        return cli.main()

    return call


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "-p 30022 ada@192.0.2.7"),
        (("--user", "grace"), "-p 30022 grace@192.0.2.7"),
        (("--user", "grace", "--", "squeue", "--me"), "-p 30022 grace@192.0.2.7 squeue --me"),
    ],
)
def test_ssh_goes_where_the_stack_says_as_whom_one_says(
    slipway, program, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    program("ssh", 'echo "$*"; exit 3')
    assert slipway("ssh", *words) == 3, "the exit code is that of the command"
    assert capfd.readouterr().out == f"{expected}\n"
    assert slipway("ssh", "--json", *words) == 0
    assert json.loads(capfd.readouterr().out)["argv"] == ["ssh", *expected.split()]


@pytest.fixture
def tour(tmp_path: Path, program, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A house whose tour is two scripts."""
    monkeypatch.setattr(administration, "HOUSE", tmp_path)
    scripts = tmp_path / "docs" / "tour"
    program("1-look.sh", 'echo "looking at $TOUR_STACK"', scripts)
    program("2-run.sh", "exit 0", scripts)
    program("lib.sh", "exit 1", scripts)
    return scripts


def test_a_tour_is_its_numbered_scripts_one_after_the_other(
    slipway, tour: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert slipway("tour", "--stack", "prod") == 0
    said = capfd.readouterr().out
    assert "looking at prod" in said
    assert "all 2 scripts went well" in said


def test_a_tour_ends_with_the_first_script_that_finds_something_wrong(
    slipway, program, tour: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program("1-look.sh", "exit 1", tour)
    assert slipway("tour") == 1
    assert "1-look.sh found something wrong" in capfd.readouterr().out
    assert slipway("tour", "--json") == 1
    [result] = json.loads(capfd.readouterr().out)
    assert (result["script"], result["ok"]) == ("1-look.sh", False)


def test_the_tour_of_the_house_has_five_scripts() -> None:
    scripts = sorted((administration.HOUSE / "docs" / "tour").glob("[0-9]-*.sh"))
    assert len(scripts) == 5
    assert all(script.stat().st_mode & 0o111 for script in scripts)
