"""What becomes of the bridge's pods and their jobs when it goes."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from operations.kubectl import Cluster
from operations.placeholders import CANCEL, FINALIZER, freed, let_go
from operations.problem import Problem

JOBS = """\
JobId=7 JobName=a UserId=slurm(1) JobState=RUNNING Reason=None AdminComment={"pods":["batch/a"]} OOMKillStep=0
JobId=8 JobName=b UserId=slurm(1) JobState=PENDING Reason=Priority AdminComment={"pods":["batch/b"]} OOMKillStep=0
JobId=9 JobName=c UserId=slurm(1) JobState=CANCELLED Reason=None AdminComment={"pods":["batch/c"]} OOMKillStep=0
JobId=10 JobName=d UserId=alice(2) JobState=RUNNING Reason=None AdminComment=mine OOMKillStep=0
JobId=11 JobName=e UserId=alice(2) JobState=RUNNING Reason=None OOMKillStep=0
"""


def pod(name: str, *finalizers: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "batch", "resourceVersion": "7", "finalizers": list(finalizers)}}


def test_pods_are_let_go_of_and_others_hold_them_as_ever() -> None:
    [(namespace, name, change)] = freed([pod("a", "foreign/one", FINALIZER), pod("b", "foreign/one"), pod("c")])
    assert (namespace, name) == ("batch", "a")
    assert change == {"metadata": {"resourceVersion": "7", "finalizers": ["foreign/one"]}}


def on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, **programs: str) -> None:
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.chdir(folder)


def test_only_jobs_that_stand_for_pods_and_have_not_ended_are_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs").write_text(JOBS)
    on_path(tmp_path, monkeypatch, scontrol="cat jobs", scancel='echo "$*" > cancelled')
    subprocess.run(["sh", "-c", CANCEL], check=True, cwd=tmp_path)
    assert (tmp_path / "cancelled").read_text() == "7 8\n"


def test_without_such_jobs_nobody_is_asked_to_cancel_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(tmp_path, monkeypatch, scontrol="echo No jobs in the system", scancel="touch cancelled")
    subprocess.run(["sh", "-c", CANCEL], check=True, cwd=tmp_path)
    assert not (tmp_path / "cancelled").exists()


def test_a_cluster_that_is_gone_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = 'case "$*" in *exec*) echo "pods controller-0 not found" >&2; exit 1 ;; *) echo \'{"items": []}\' ;; esac'
    on_path(tmp_path, monkeypatch, kubectl=gone)
    let_go(Cluster("slurm"), "ours")
    assert "controller-0 not found" in capsys.readouterr().err


def test_a_kubernetes_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(tmp_path, monkeypatch, kubectl="echo no leave to list pods >&2; exit 1")
    with pytest.raises(Problem, match="no leave to list pods"):
        let_go(Cluster("slurm"), "ours")
