"""kubectl as it is called, and what its answers become."""

import subprocess
from pathlib import Path

import pytest

from operations.kubectl import Cluster, last_line
from operations.problem import Problem
from tests.unit.operations.kubernetes import Kubernetes

SCIENCE = Cluster("science")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where commands are."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(path: Path, text: str) -> None:
    (path / "kubectl").write_text(f"#!/bin/sh\n{text}\n")
    (path / "kubectl").chmod(0o755)


@pytest.mark.usefixtures("path")
def test_without_kubectl_it_says_what_to_install() -> None:
    with pytest.raises(Problem, match="kubectl is not on PATH: install it"):
        SCIENCE.kubectl("get", "pods")


def test_a_kubectl_that_hangs_is_given_up(path: Path) -> None:
    program(path, "exec /bin/sleep 60")
    done = SCIENCE.kubectl("get", "pods", seconds=0.05)
    assert done.returncode != 0
    assert "no answer within" in done.stderr


def test_scripts_go_through_stdin_and_their_words_are_not_read_by_a_shell(path: Path) -> None:
    program(path, 'while [ "$1" != sh ]; do shift; done; exec /bin/sh -s "$3" "$4"')
    assert SCIENCE.slurm('echo "$1+$2"', "worker-[0-1]", "a b; $(c)") == "worker-[0-1]+a b; $(c)\n"


def test_everything_happens_in_the_stacks_namespace_and_the_controllers_containers(path: Path) -> None:
    program(path, 'echo "$@"')
    assert SCIENCE.kubectl("get", "pods").stdout == "--namespace science get pods\n"
    expected = "--namespace science exec -i controller-0 -c {} -- sh -s\n"
    assert SCIENCE.controller("true").stdout == expected.format("slurmctld")
    assert SCIENCE.controller("true", container="rehearsal").stdout == expected.format("rehearsal")


def test_a_script_that_fails_is_told_in_its_last_words(running: Kubernetes) -> None:
    running.slurm.up = False
    with pytest.raises(Problem, match=r"controller-0 does not answer: .*Unable to contact slurm controller"):
        SCIENCE.slurm("scontrol show nodes --oneliner")


def test_objects_that_kubernetes_does_not_tell_are_a_problem(running: Kubernetes) -> None:
    running.reachable = False
    with pytest.raises(Problem, match="Kubernetes does not tell its pods: Unable to connect"):
        SCIENCE.list("pods", "slipway/node-set")


def test_a_config_map_that_is_not_taken_is_a_problem(running: Kubernetes) -> None:
    running.reachable = False
    with pytest.raises(Problem, match="does not take ConfigMap x: Unable to connect"):
        SCIENCE.config_map("x", {})


@pytest.mark.parametrize(
    ("out", "err", "said"),
    [("", "a\nb\n", "b"), ("c\n", "", "c"), ("c\n", "b\n", "b"), ("", "", "exit code 7, and no word")],
)
def test_the_last_words_are_those_of_stderr_if_there_are_any(out: str, err: str, said: str) -> None:
    assert last_line(subprocess.CompletedProcess([], 7, out, err)) == said
