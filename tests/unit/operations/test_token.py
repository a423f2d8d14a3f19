"""`slipway token`, with a controller that is a shell on this machine."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from operations import cli
from operations.kubectl import Cluster

REST = "{enabled: true, maxLifespan: 1d}"


@pytest.fixture
def controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its programs: a `getent` that knows four users, and a `scontrol` that signs anything."""
    folder = tmp_path / "bin"
    folder.mkdir()
    known = (
        "alice) echo alice:x:10001: ;; root) echo root:x:0: ;; mail) echo mail:x:8: ;; slurm) echo slurm:x:64030: ;;"
    )
    programs = {
        "id": "echo 64030",
        "getent": f'case "$2" in {known} *) exit 2 ;; esac',
        "scontrol": f'echo "$*" >> {tmp_path}/signed; echo "SLURM_JWT=a.b.$2"',
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    def run(_: Cluster, script: str, *words: str, **__: Any) -> subprocess.CompletedProcess[str]:
        env = {"PATH": f"{folder}:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-s", *words], input=script, env=env, capture_output=True, text=True)

    monkeypatch.setattr(Cluster, "controller", run)
    return folder


@pytest.fixture
def slipway(controller: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def call(*words: str, rest: str = REST) -> tuple[int, str, str]:
        file = tmp_path / "Pulumi.x.yaml"
        file.write_text(f"config:\n  slipway:cluster: {{namespace: science}}\n  slipway:rest: {rest}\n")
        monkeypatch.setattr(sys, "argv", ["slipway", "token", *words, "--file", str(file)])
        code = cli.main()
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def signed(tmp_path: Path) -> str:
    file = tmp_path / "signed"
    return file.read_text() if file.exists() else ""


def test_a_token_is_all_that_is_printed(slipway, tmp_path: Path) -> None:
    assert slipway("alice") == (0, "a.b.username=alice\n", "")
    assert signed(tmp_path) == "token username=alice lifespan=3600\n"
    code, out, _ = slipway("alice", "--lifespan", "90m", "--json")
    assert code == 0
    assert json.loads(out) == {"user": "alice", "seconds": 5400, "token": "a.b.username=alice"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("bob",), "The cluster knows no user bob."),
        (("10001",), "The cluster knows no user 10001."),
        (("Alice",), "The cluster knows no user Alice."),
        (("alice lifespan=9",), "The cluster knows no user alice lifespan=9."),
        (("root",), "can act in anybody's name"),
        (("slurm",), "can act in anybody's name"),
        (("mail",), "one of the system's own users"),
        (("alice", "--lifespan", "25h"), "not between 1s and 1d, which slipway:rest.maxLifespan allows"),
        (("alice", "--lifespan", "0s"), "not between 1s and 1d"),
        (("alice", "--lifespan", "60"), "(say 60s or 60m)"),
        (("alice", "--lifespan", "UNLIMITED"), "(it must end some time)"),
        (("alice", "--lifespan", "soon"), "is not a length of time with its unit"),
    ],
)
def test_what_is_not_given_is_refused_and_nothing_is_signed(
    slipway, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    code, out, said = slipway(*words)
    assert (code, out) == (1, "")
    assert why in said
    assert signed(tmp_path) == ""


def test_a_stack_without_an_http_interface_says_so(slipway) -> None:
    code, out, said = slipway("alice", rest="{enabled: false}")
    assert (code, out) == (1, "")
    assert "Set slipway:rest.enabled: true" in said


def test_what_slurm_says_is_told(slipway, controller: Path) -> None:
    (controller / "scontrol").write_text("#!/bin/sh\necho 'error with request: no key' >&2\nexit 1\n")
    code, out, said = slipway("alice")
    assert (code, out) == (1, "")
    assert "no key" in said


def test_an_answer_without_a_token_is_none(slipway, controller: Path) -> None:
    (controller / "scontrol").write_text("#!/bin/sh\necho nothing\n")
    code, out, said = slipway("alice")
    assert (code, out) == (1, "")
    assert "slurmctld gave no token" in said
