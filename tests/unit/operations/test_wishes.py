"""What a command resource tells an operation, and how an operation ends for the engine."""

import io
import json

import pytest

from operations.__main__ import main
from operations.draining import Limits
from operations.kubectl import PATIENCE, Cluster
from operations.wishes import Wishes
from slurm.hostlist import Hosts
from tests.unit.operations import files
from tests.unit.operations.conftest import NODES
from tests.unit.operations.files import BASE
from tests.unit.operations.kubernetes import Kubernetes

ENVIRONMENT = {
    "SLIPWAY_NAMESPACE": "science",
    "SLIPWAY_NODES": NODES,
    "SLIPWAY_DOMAIN": "science.svc.cluster.local",
    "SLIPWAY_MAX_UNAVAILABLE": "worker=2,burst=1",
    "SLIPWAY_DRAIN_SECONDS": "600",
    "SLIPWAY_DRAIN_ON_TIMEOUT": "fail",
}


def test_wishes_come_from_the_environment_and_files_from_stdin() -> None:
    assert Wishes.read(ENVIRONMENT, io.StringIO(json.dumps(BASE))) == Wishes(
        Cluster("science", PATIENCE),
        BASE,
        Hosts.parse(NODES),
        "science.svc.cluster.local",
        Limits(600, "fail"),
        {"worker": 2, "burst": 1},
    )


def test_a_cluster_without_nodes_or_files_or_limits_can_be_told_too() -> None:
    none = {"SLIPWAY_NODES": "", "SLIPWAY_MAX_UNAVAILABLE": "", "SLIPWAY_DRAIN_SECONDS": "inf"}
    read = Wishes.read({**ENVIRONMENT, **none}, io.StringIO(""))
    assert (read.files, list(read.nodes), read.max_unavailable) == ({}, [], {})
    assert read.limits.seconds == float("inf")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch):
    """As the engine starts a command."""

    def start(what: str, wanted: dict[str, str]) -> int:
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value)
        stdin = io.StringIO(json.dumps(wanted))
        monkeypatch.setattr(Wishes.read.__func__, "__defaults__", (stdin,))  # pyright: ignore[reportFunctionMemberAccess]
        return main([what])

    return start


@pytest.mark.usefixtures("handlers")
def test_an_update_is_its_commands_one_after_the_other(
    running: Kubernetes, told, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [told(what, files.RECONFIGURED) for what in ("look", "prepare", "apply", "roll")] == [0, 0, 0, 0]
    assert running.slurm.config["SchedulerParameters"] == "bf_continue,bf_interval=60"
    assert running.record["applied"] == files.RECONFIGURED
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("handlers")
def test_a_command_that_fails_says_why_on_stderr_and_ends_with_one(
    running: Kubernetes, told, capsys: pytest.CaptureFixture[str]
) -> None:
    running.rejects = "bf_interval"
    assert told("prepare", files.RECONFIGURED) == 1
    said = capsys.readouterr().err
    assert said.startswith("slurmctld does not start with these files:")
    assert "Traceback" not in said
