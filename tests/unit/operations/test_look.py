"""`operations/run look`: what a preview is told of the running cluster."""

import json
from typing import Any

import pytest

from operations.accounts import Record as Accounts
from operations.kubectl import Cluster
from operations.look import API, look
from operations.record import Record
from slurm.planning.told import ASKED
from tests.unit.operations import files
from tests.unit.operations.conftest import Wish
from tests.unit.operations.files import BASE, NO_DEBUG, SHRUNK, changed
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job

TWO = "worker-[0-1],burst-0"


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], wish: Wish):
    def ask(wanted: dict[str, str], nodes: str = TWO) -> dict[str, Any]:
        look(wish(wanted, nodes=nodes))
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.mark.usefixtures("bare")
def test_before_the_first_deploy_there_is_nothing_to_tell(told) -> None:
    assert told(BASE) == {"applied": None, "unfinished": False}


def test_what_runs_is_told_and_nothing_is_done(running: Kubernetes, told) -> None:
    assert told(files.RECONFIGURED, nodes="worker-[0-2],burst-0") == {"applied": BASE, "unfinished": False}
    assert running.done == []


def test_what_was_declared_to_slurmdbd_is_told_too(running: Kubernetes, told) -> None:
    wanted = {**BASE, "slurmdbd.conf": "StorageLoc=x\n"}
    assert told(wanted, nodes="worker-[0-2],burst-0")["accounts"] is None
    things = {"account physics": {"Fairshare": "1"}}
    Accounts(things, unfinished=True).write(Cluster("science"))
    found = told(wanted, nodes="worker-[0-2],burst-0")
    assert found["accounts"] == things
    assert found["unfinished"] is True


def test_a_cluster_that_cannot_be_reached_does_not_stop_a_preview(running: Kubernetes, told) -> None:
    running.reachable = False
    found = told(SHRUNK)
    assert "no such host" in found["unreachable"]


def test_a_silent_slurmctld_does_not_stop_a_preview(running: Kubernetes, told) -> None:
    running.slurm.up = False
    assert "controller-0 does not answer" in told(SHRUNK)["unreachable"]


def test_a_silent_slurmctld_hides_no_unfinished_update(running: Kubernetes, told) -> None:
    """Kubernetes answers, and knows what was applied and what was begun."""
    Record.read(Cluster("science")).open(Cluster("science"), files.LIVE)
    running.slurm.up = False
    found = told(BASE)
    assert found["applied"] == BASE
    assert found["unfinished"] is True


def test_an_update_that_did_not_end_is_told(running: Kubernetes, told) -> None:
    assert running.record["applied"] == BASE
    Record.read(Cluster("science")).open(Cluster("science"), files.LIVE)
    assert told(BASE, nodes="worker-[0-2],burst-0")["unfinished"] is True


def test_running_jobs_on_what_goes_are_those_that_are_waited_for(running: Kubernetes, told) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2"), Job(2, nodes="worker-0"), Job(3)]
    found = told(SHRUNK)
    assert found["waitedFor"] == ["1 (alice, on worker-2)"]
    assert found["stranded"] == []


def test_a_report_is_told_of_every_job_that_runs(running: Kubernetes, told, monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows which pods are replaced, which the program does not."""
    running.slurm.jobs = [Job(1, nodes="worker-[1-2]"), Job(2, nodes="burst-0"), Job(3)]
    monkeypatch.setenv(ASKED, "1")
    assert told(BASE, nodes="worker-[0-2],burst-0")["running"] == [
        ["worker-[1-2]", "1 (alice, on worker-[1-2])"],
        ["burst-0", "2 (alice, on burst-0)"],
    ]


def test_pending_jobs_of_a_partition_that_goes_are_no_running_ones(running: Kubernetes, told) -> None:
    running.slurm.jobs = [Job(1, partition="debug", nodes="worker-0"), Job(2, partition="debug")]
    found = told(NO_DEBUG, nodes="worker-[0-2],burst-0")
    assert found["waitedFor"] == ["1 (alice, on worker-0)"]
    assert [each.split()[0] for each in found["stranded"]] == ["2"]


@pytest.mark.parametrize(
    ("job", "wanted", "reason"),
    [
        (Job(9, partition="debug"), NO_DEBUG, "no partition debug any more"),
        (Job(9, wanted="worker-2"), SHRUNK, "asks for worker-2"),
        (Job(9, count=5), SHRUNK, "asks for 5 nodes, and "),
        (Job(9, feature="fast"), SHRUNK, "asks for a node with fast"),
        (Job(9, feature="fast|faster"), SHRUNK, "asks for a node with fast|faster"),
    ],
    ids=["partition", "node", "count", "feature", "features"],
)
def test_pending_jobs_that_can_never_start_are_told_with_the_reason(
    running: Kubernetes, told, job: Job, wanted: dict[str, str], reason: str
) -> None:
    running.slurm.jobs = [job]
    [stranded] = told(wanted)["stranded"]
    assert stranded.startswith(f"9 (alice, waiting in {job.partition}): {reason}")


@pytest.mark.parametrize(
    "job",
    [
        Job(9),
        Job(9, partition="main,debug"),
        Job(9, wanted="worker-1"),
        Job(9, wanted="(null)"),
        Job(9, count=2),
        Job(9, feature="worker"),
        Job(9, feature="burst"),
        Job(9, feature="worker&fast"),
        Job(9, feature="fast|worker"),
    ],
    ids=["plain", "two partitions", "node", "no node", "count", "static", "dynamic", "expression", "one of two"],
)
def test_pending_jobs_that_can_start_are_not_told(running: Kubernetes, told, job: Job) -> None:
    running.slurm.jobs = [job]
    assert told(changed(("worker-[0-2]", "worker-[0-1]")))["stranded"] == []


def test_dynamic_nodes_of_a_mixed_partition_count_too(running: Kubernetes, told) -> None:
    running.slurm.jobs = [Job(9, count=3)]
    assert told(SHRUNK, nodes=TWO)["stranded"] == []


ALL_NODES = "worker-[0-2],burst-0"
NO_BURST = changed(("Nodes=worker-[0-2],burst ", "Nodes=worker-[0-2] "))
FEATURELESS = changed((" Feature=worker", ""))


@pytest.mark.parametrize(
    ("job", "wanted", "reason"),
    [
        (Job(9, feature="burst"), NO_BURST, "asks for a node with burst"),
        (Job(9, feature="worker"), FEATURELESS, "asks for a node with worker"),
        (
            Job(9, partition="debug", wanted="worker-0"),
            changed(("PartitionName=debug Nodes=worker-0", "PartitionName=debug Nodes=worker-1")),
            "asks for worker-0, which debug does not have",
        ),
    ],
    ids=["NodeSet", "feature", "node"],
)
def test_what_stays_may_offer_less_than_a_job_waits_for(
    running: Kubernetes, told, job: Job, wanted: dict[str, str], reason: str
) -> None:
    running.slurm.jobs = [job]
    found = told(wanted, nodes=ALL_NODES)
    assert [each.partition(": ")[2] for each in found["stranded"]] == [reason]
    assert "waitedFor" not in found


def test_a_job_that_one_of_its_partitions_can_still_run_is_not_told(running: Kubernetes, told) -> None:
    running.slurm.jobs = [Job(9, partition="debug,main", wanted="worker-2", feature="worker")]
    assert told(NO_BURST, nodes=ALL_NODES)["stranded"] == []


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("kinds", [[], ["PodMonitor", "PrometheusRule"]])
def test_kinds_that_are_asked_for_are_told_before_the_first_deploy_too(
    kinds: list[str], bare: Kubernetes, told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API, "monitoring.coreos.com/v1")
    bare.kinds = kinds
    assert told(BASE)["kinds"] == kinds


def test_an_api_server_that_does_not_tell_its_kinds_is_not_taken_for_one_without(
    running: Kubernetes, told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(API, "monitoring.coreos.com/v1")
    running.kinds = None
    assert "kinds" not in told(BASE, nodes="worker-[0-2],burst-0")
