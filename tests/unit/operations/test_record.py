"""What the cluster remembers of itself, for whoever comes next."""

import pytest

from operations.kubectl import Cluster
from operations.problem import Problem
from operations.record import Record
from slurm.changes import plan
from tests.unit.operations.files import BASE, LIVE, RECONFIGURED, RESTARTED
from tests.unit.operations.kubernetes import Kubernetes

SCIENCE = Cluster("science")


@pytest.mark.usefixtures("bare")
def test_a_cluster_that_was_never_deployed_has_none() -> None:
    assert Record.read(SCIENCE) == Record()
    assert not Record.read(SCIENCE).certain
    assert Record.read(SCIENCE).plan(BASE).steps == ()


def test_what_is_written_is_read_again(bare: Kubernetes) -> None:
    began = bare.clock.now
    opened = Record().open(SCIENCE, BASE)
    assert Record.read(SCIENCE) == opened == Record(None, (BASE,), began)
    closed = opened.close(SCIENCE, BASE)
    assert Record.read(SCIENCE) == closed == Record(BASE)
    assert closed.certain


@pytest.mark.usefixtures("bare")
def test_an_attempt_keeps_what_was_verified_last() -> None:
    record = Record(BASE).open(SCIENCE, LIVE)
    assert (record.applied, record.attempts) == (BASE, (LIVE,))
    assert not record.certain


def test_an_attempt_at_the_same_files_is_the_same_attempt(bare: Kubernetes) -> None:
    record = Record(BASE).open(SCIENCE, LIVE)
    bare.clock.sleep(60)
    assert record.open(SCIENCE, LIVE) is record
    assert record.open(SCIENCE, RECONFIGURED).since > record.since


def test_an_attempt_does_not_make_an_earlier_one_forgotten(bare: Kubernetes) -> None:
    """Each may have reached Slurm before it was killed."""
    record = Record(BASE).open(SCIENCE, RESTARTED).open(SCIENCE, LIVE)
    assert Record.read(SCIENCE) == record == Record(BASE, (RESTARTED, LIVE), record.since)
    assert "MCSPlugin" in {step.key for step in record.plan(LIVE).steps}
    bare.clock.sleep(60)
    again = record.open(SCIENCE, RESTARTED)
    assert again.attempts == (LIVE, RESTARTED), "each once, and the newest last"
    assert again.since > record.since
    assert Record.read(SCIENCE).close(SCIENCE, LIVE) == Record(LIVE)


def test_the_plan_is_from_both_where_both_may_run() -> None:
    both = Record(BASE, (RECONFIGURED,)).plan(LIVE)
    assert {step.key for step in both.steps} == {"MaxTime", "SchedulerParameters"}
    assert Record(BASE).plan(LIVE) == plan(BASE, LIVE)
    assert Record(BASE, (BASE,)).plan(LIVE) == plan(BASE, LIVE), "each step once"


def test_a_kubernetes_that_does_not_answer_is_told(bare: Kubernetes) -> None:
    bare.reachable = False
    with pytest.raises(Problem, match="Kubernetes does not answer: Unable to connect"):
        Record.read(SCIENCE)
