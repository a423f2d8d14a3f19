"""A slurmctld or a Kubernetes that is away for a short time: an update that waits for jobs waits for it too."""

import pytest

from operations.apply import apply
from operations.kubectl import Cluster
from operations.nodes import nodes
from operations.prepare import prepare
from operations.problem import Problem
from operations.rolling import restart_outdated
from tests.unit.operations import files
from tests.unit.operations.conftest import Wish
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job

TWO = "worker-[0-1],burst-0"


def outage(cluster: Kubernetes, after: float, seconds: float) -> None:
    cluster.clock.after(after, lambda: setattr(cluster.slurm, "up", False))
    cluster.clock.after(after + seconds, lambda: setattr(cluster.slurm, "up", True))


def test_a_silence_during_a_drain_is_waited_for(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    outage(running, 30, 90)
    running.clock.after(300, lambda: running.slurm.jobs.clear())
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.drained == {"worker-2": "slipway:change"}
    assert (
        "for an answer about jobs on worker-2 (slurmctld's pod controller-0 does not answer" in capsys.readouterr().out
    )


@pytest.mark.parametrize("how", ["fail", "requeue", "cancel"])
def test_nothing_is_done_to_jobs_that_nobody_can_tell_of(running: Kubernetes, wish: Wish, how: str) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    outage(running, 30, 620)
    with pytest.raises(
        Problem, match=r"waited 600 s for an answer about jobs on worker-2[^\0]*Nothing was done to them"
    ):
        prepare(wish(files.SHRUNK, nodes=TWO, on_timeout=how))
    assert [job.nodes for job in running.slurm.jobs] == ["worker-2"]
    assert running.slurm.drained == {}, "it was tried for a while"
    assert set(running.record) == {"applied", "since"}


@pytest.mark.parametrize("what", ["prepare", "roll"])
def test_what_cannot_be_put_back_does_not_hide_what_went_wrong(running: Kubernetes, wish: Wish, what: str) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    outage(running, 30, 3000)
    running.sets["worker"]["status"]["updateRevision"] = "worker-2"
    running.slurm.jobs += [Job(2, nodes="worker-0")]
    with pytest.raises(Problem, match="waited 600 s for an answer about jobs") as told:
        prepare(wish(files.SHRUNK, nodes=TWO)) if what == "prepare" else restart_outdated(wish({}))
    assert "And it could not be put back: slurmctld's pod controller-0 does not answer" in str(told.value)


def test_what_slurmctld_refuses_is_not_asked_again(running: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_controller", lambda *_: (1, "slurm_update error: Invalid node name specified"))
    began = running.clock.now
    with pytest.raises(Problem, match="Invalid node name"):
        nodes(Cluster("science", 60))
    assert running.clock.now - began < 1


def test_people_are_told_at_once_and_an_update_asks_again(running: Kubernetes) -> None:
    running.slurm.up = False
    began = running.clock.now
    with pytest.raises(Problem):
        nodes(Cluster("science"))
    assert running.clock.now - began < 1
    running.clock.after(20, lambda: setattr(running.slurm, "up", True))
    assert set(nodes(Cluster("science", 60))) == {"worker-0", "worker-1", "worker-2", "burst-0"}


REFUSED = "The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?\n"


@pytest.mark.parametrize(
    "said",
    [
        REFUSED,
        "Unable to connect to the server: net/http: TLS handshake timeout\n",
        "Unable to connect to the server: dial tcp 127.0.0.1:6443: i/o timeout\n",
    ],
)
def test_an_api_server_that_takes_no_connections_is_asked_again(running: Kubernetes, wish: Wish, said: str) -> None:
    running.unreachable = said
    for after in (0, 30):
        running.clock.after(after, lambda: setattr(running, "reachable", False))
        running.clock.after(after + 20, lambda: setattr(running, "reachable", True))
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    running.clock.after(60, lambda: running.slurm.jobs.clear())
    prepare(wish(files.SHRUNK, nodes=TWO))
    running.clock.after(0, lambda: setattr(running, "reachable", False))
    running.clock.after(20, lambda: setattr(running, "reachable", True))
    apply(wish(files.SHRUNK, nodes=TWO))
    assert running.record["applied"] == files.SHRUNK


def test_a_deletion_that_may_have_been_heard_is_not_repeated(running: Kubernetes) -> None:
    """The second one would be for the successor, which may have jobs."""
    running.unreachable, running.reachable = REFUSED, False
    began = running.clock.now
    assert Cluster("science", 60).kubectl("delete", "pod", "worker-0").returncode
    assert running.clock.now - began < 1
    assert Cluster("science", 60).kubectl("get", "configmap", "slurm-config").returncode
    assert running.clock.now - began > 60
