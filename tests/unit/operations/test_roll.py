"""`operations/run roll`: worker pods are as their templates say, and every node serves."""

from dataclasses import replace

import pytest

from operations.problem import Problem
from operations.roll import roll
from tests.unit.operations.conftest import Wish
from tests.unit.operations.kubernetes import Kubernetes


def test_it_ends_when_every_node_serves(running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]) -> None:
    running.slurm.nodes["worker-1"].states |= {"NOT_RESPONDING"}
    running.clock.after(10, lambda: running.slurm.register("worker-1", running.clock.written()))
    roll(wish({}))
    first, last = capsys.readouterr().out.splitlines()
    assert first.endswith("for worker-1 to register")
    assert last == "nodes burst-0,worker-[0-2] serve"


def test_outdated_pods_come_first(running: Kubernetes, wish: Wish) -> None:
    running.sets["burst"]["status"]["updateRevision"] = "burst-2"
    roll(wish({}))
    assert running.done[-1] == "delete burst-0"


def test_a_node_that_a_killed_run_has_drained_serves_again(running: Kubernetes, wish: Wish) -> None:
    running.slurm.drain("worker-2", "slipway:stopping")
    roll(wish({}))
    assert running.slurm.drained == {}


@pytest.mark.parametrize("reason", ["slipway:health: disk: full", "slipway:cordoned: m0", "slipway:reboot@m0/b0: x"])
def test_drains_for_health_stay_unless_nobody_looks_after_nodes_any_more(
    running: Kubernetes, wish: Wish, reason: str
) -> None:
    running.slurm.drain("worker-2", reason)
    roll(replace(wish({}), health=True))
    assert running.slurm.drained == {"worker-2": reason}
    roll(wish({}))
    assert running.slurm.drained == {}


@pytest.mark.parametrize("word", ["NOT_RESPONDING", "UNKNOWN"])
def test_nodes_that_have_not_registered_are_named(running: Kubernetes, wish: Wish, word: str) -> None:
    running.slurm.nodes["worker-1"].states = {word}
    with pytest.raises(Problem, match="waited 300 s for worker-1 to register") as told:
        roll(wish({}))
    assert "kubectl -n science get pods" in str(told.value)


def test_a_dynamic_node_that_has_not_made_itself_known_is_missed(running: Kubernetes, wish: Wish) -> None:
    del running.slurm.nodes["burst-0"]
    with pytest.raises(Problem, match="burst-0 to register"):
        roll(wish({}))


def test_a_node_that_an_administrator_has_taken_out_does_not_hold_up_an_update(running: Kubernetes, wish: Wish) -> None:
    running.slurm.drain("worker-0", "bad disk")
    running.slurm.nodes["worker-1"].states = {"DOWN"}
    roll(wish({}))
    assert running.slurm.drained == {"worker-0": "bad disk"}


@pytest.mark.parametrize(
    "gone",
    [
        {"metadata": {"deletionTimestamp": "2027-01-15T08:00:00Z"}},
        {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]}},
        {"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}},
    ],
    ids=["terminating", "not ready", "disrupted"],
)
def test_nodes_on_machines_that_are_gone_are_not_waited_for(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str], gone: dict
) -> None:
    running.slurm.nodes["worker-1"].states |= {"NOT_RESPONDING"}
    for part, values in gone.items():
        running.pods["worker-1"][part] |= values
    roll(wish({}))
    assert capsys.readouterr().out.splitlines() == [
        "not waited for, as their machines do not answer: worker-1",
        "all other nodes serve",
    ]


def test_no_nodes_are_asked_for_where_there_are_none(running: Kubernetes, wish: Wish) -> None:
    running.slurm.up = False
    roll(wish({}, nodes=""))
    assert running.done == []


def test_pods_of_autoscaled_node_sets_are_settled_before_anything_is_replaced(running: Kubernetes, wish: Wish) -> None:
    running.sets["burst"]["status"]["updateRevision"] = "burst-2"
    roll(wish({}, autoscaled=("elastic", "spare")))
    assert running.done[0] == "settle elastic spare"
    assert running.done[-1] == "delete burst-0"


@pytest.mark.parametrize("states", [{"IDLE", "CLOUD", "POWERED_DOWN"}, {"CLOUD", "POWERING_UP", "NOT_RESPONDING"}])
def test_nodes_that_slurm_starts_when_it_needs_them_are_not_waited_for(
    running: Kubernetes, wish: Wish, states: set[str]
) -> None:
    running.slurm.nodes["worker-1"].states = states
    roll(wish({}, autoscaled=("worker",)))


def test_the_controller_is_as_its_template_says_before_any_worker_is_touched(running: Kubernetes, wish: Wish) -> None:
    """Slurm asks for a slurmctld that is not older than any slurmd."""
    running.sets["controller"]["status"]["updateRevision"] = "controller-2"
    running.sets["burst"]["status"]["updateRevision"] = "burst-2"
    running.clock.after(5, lambda: running.run(["kubectl", "--namespace", "science", "delete", "pod", "controller-0"]))
    roll(wish({}))
    assert [each for each in running.done if each.startswith("delete")] == ["delete controller-0", "delete burst-0"]


def test_a_controller_that_does_not_come_is_named(running: Kubernetes, wish: Wish) -> None:
    running.sets["controller"]["status"]["updateRevision"] = "controller-2"
    running.sets["burst"]["status"]["updateRevision"] = "burst-2"
    with pytest.raises(Problem, match="waited 300 s for controller-0 to run as its template says"):
        roll(wish({}))
    assert running.done == []


def test_pods_of_nodes_that_slurm_has_stopped_are_replaced_at_once_and_not_waited_for(
    running: Kubernetes, wish: Wish
) -> None:
    running.sets["worker"]["status"]["updateRevision"] = "worker-2"
    running.pods["worker-1"]["status"] = {"conditions": [], "containerStatuses": []}
    running.slurm.nodes["worker-1"].states = {"IDLE", "CLOUD", "POWERED_DOWN"}
    began = running.clock.time()
    roll(wish({}, autoscaled=("worker",)))
    assert [each for each in running.done if each.startswith("delete")] == [
        "delete worker-1",
        "delete worker-0",
        "delete worker-2",
    ]
    assert running.clock.time() - began < 60
