"""A new key for the daemons: those with the old one and those with the new one do not understand each other."""

import pytest

from operations.apply import apply
from operations.prepare import prepare
from operations.problem import Problem
from operations.roll import roll
from tests.unit.operations.conftest import Wish
from tests.unit.operations.files import BASE
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job


@pytest.fixture
def keyed(running: Kubernetes, wish: Wish) -> Kubernetes:
    """A cluster that has the key `old`."""
    apply(wish(BASE, key="old"))
    running.done.clear()
    return running


def test_the_key_that_runs_is_written_down(keyed: Kubernetes) -> None:
    assert keyed.config_maps["slurm-applied"]["key"] == "old"


def test_nothing_is_drained_for_the_same_key(keyed: Kubernetes, wish: Wish) -> None:
    prepare(wish(BASE, key="old"))
    assert keyed.slurm.drained == {}


def test_all_jobs_end_before_it_comes_and_nodes_serve_when_all_have_it(keyed: Kubernetes, wish: Wish) -> None:
    keyed.slurm.jobs = [Job(7, nodes="worker-1"), Job(8)]
    keyed.clock.after(100, lambda: keyed.slurm.jobs.pop(0))
    prepare(wish(BASE, key="new"))
    assert [job.number for job in keyed.slurm.jobs] == [8]
    assert set(keyed.slurm.drained) == {"worker-0", "worker-1", "worker-2", "burst-0"}
    apply(wish(BASE, key="new"))
    assert set(keyed.slurm.drained) == {"worker-0", "worker-1", "worker-2", "burst-0"}
    assert keyed.config_maps["slurm-applied"]["key"] == "new"
    for each in ("worker", "burst"):
        keyed.sets[each]["status"]["updateRevision"] = f"{each}-2"
    roll(wish(BASE, key="new"))
    assert keyed.slurm.drained == {}
    assert keyed.slurm.lost == []


def test_jobs_that_do_not_end_keep_the_key_that_they_have(keyed: Kubernetes, wish: Wish) -> None:
    keyed.slurm.jobs = [Job(7, nodes="worker-1")]
    with pytest.raises(Problem, match="7 \\(alice"):
        prepare(wish(BASE, key="new"))
    assert keyed.slurm.drained == {}
    assert keyed.config_maps["slurm-applied"]["key"] == "old"


def test_a_cluster_that_was_deployed_without_a_word_about_its_key_gets_one(running: Kubernetes, wish: Wish) -> None:
    prepare(wish(BASE, key="first"))
    assert running.slurm.drained == {}
    apply(wish(BASE, key="first"))
    assert running.config_maps["slurm-applied"]["key"] == "first"
