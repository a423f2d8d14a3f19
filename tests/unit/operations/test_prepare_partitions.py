"""A partition that goes: no new jobs, and those that run or wait there come first."""

import pytest

from operations.prepare import prepare
from operations.problem import Problem
from tests.unit.operations.conftest import Wish
from tests.unit.operations.files import NO_DEBUG, SHRUNK
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job


def partitions(done: list[str]) -> list[str]:
    return [each for each in done if each.startswith("partition")]


def test_a_partition_that_goes_takes_no_new_jobs(running: Kubernetes, wish: Wish) -> None:
    prepare(wish(NO_DEBUG))
    assert partitions(running.done) == ["partition debug DRAIN"]
    assert running.slurm.partitions["main"]["State"] == "UP"


def test_nodes_of_a_partition_that_goes_stay_and_are_not_drained(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, partition="main", nodes="worker-0")]
    prepare(wish(NO_DEBUG))
    assert running.slurm.drained == {}


def test_running_and_pending_jobs_of_it_are_waited_for(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, waits = Job(1, partition="debug", nodes="worker-0"), Job(2, partition="debug")
    running.slurm.jobs = [runs, waits]
    running.clock.after(10, lambda: running.slurm.jobs.remove(runs))
    running.clock.after(20, lambda: setattr(waits, "nodes", "worker-0"))
    running.clock.after(30, lambda: running.slurm.jobs.remove(waits))
    prepare(wish(NO_DEBUG))
    said = capsys.readouterr().out
    assert "for 2 jobs: 1 (alice, on worker-0); 2 (alice, waiting in debug)" in said
    assert running.slurm.jobs == []
    assert running.slurm.partitions["debug"]["State"] == "DRAIN", "until it is gone"


def test_it_takes_jobs_again_where_the_update_stops(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(2, partition="debug")]
    with pytest.raises(Problem, match="waiting in debug"):
        prepare(wish(NO_DEBUG))
    assert partitions(running.done) == ["partition debug DRAIN", "partition debug UP"]
    assert running.slurm.partitions["debug"]["State"] == "UP"
    assert running.slurm.drained == {}
    assert [job.number for job in running.slurm.jobs] == [2]


def test_pending_jobs_of_it_cannot_be_requeued(running: Kubernetes, wish: Wish) -> None:
    """They are in the queue already, and it is the queue that goes."""
    running.slurm.jobs = [Job(2, partition="debug")]
    with pytest.raises(Problem, match="no queue is left for them") as told:
        prepare(wish(NO_DEBUG, on_timeout="requeue"))
    assert "drain.onTimeout to cancel" in str(told.value)
    assert running.slurm.partitions["debug"]["State"] == "UP"


def test_running_jobs_of_it_are_not_requeued_into_a_queue_that_goes(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, partition="debug", nodes="worker-0")]
    with pytest.raises(Problem, match="no queue is left for them"):
        prepare(wish(NO_DEBUG, on_timeout="requeue"))
    assert [job.state for job in running.slurm.jobs] == ["RUNNING"]


def test_all_jobs_of_it_are_cancelled_where_the_stack_says_so(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [
        Job(1, partition="debug", nodes="worker-0"),
        Job(2, partition="debug"),
        Job(3, partition="main"),
    ]
    prepare(wish(NO_DEBUG, on_timeout="cancel"))
    assert [job.number for job in running.slurm.jobs] == [3]
    assert "scancel 1 2" in running.done


@pytest.mark.parametrize("how", ["requeue", "cancel"])
def test_every_job_is_named_before_anything_is_done_to_it(
    running: Kubernetes, wish: Wish, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.jobs = [Job(number, nodes="worker-2") for number in range(1, 21)]
    prepare(wish(SHRUNK, nodes="worker-[0-1],burst-0", on_timeout=how))
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{how}: 20 jobs: ")]
    assert all(f" {number} (alice, on worker-2)" in line for number in range(1, 21))
