"""Pods that have to be replaced are, but never under their jobs, and no more at a time than their NodeSet allows."""

import pytest

from operations import rolling
from operations.draining import STOPPING
from operations.kubectl import Cluster
from operations.problem import Problem
from slurm.changes import Plan, plan
from tests.unit.operations.conftest import Wish
from tests.unit.operations.files import BASE, LARGER, changed
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job

WORKERS = {"worker-0", "worker-1", "worker-2"}


@pytest.fixture
def outdated(running: Kubernetes) -> Kubernetes:
    """The template of NodeSet `worker` has changed."""
    running.sets["worker"]["status"]["updateRevision"] = "worker-2"
    return running


def revisions(cluster: Kubernetes) -> dict[str, str]:
    labels = {name: pod["metadata"]["labels"] for name, pod in cluster.pods.items()}
    return {name: each["controller-revision-hash"] for name, each in labels.items() if "slipway/node-set" in each}


def test_pods_that_are_as_they_should_be_are_left_alone(running: Kubernetes, wish: Wish) -> None:
    rolling.restart_outdated(wish({}))
    assert running.done == []


def test_every_outdated_pod_is_drained_then_replaced_and_the_next_comes_when_it_serves(
    outdated: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    rolling.restart_outdated(wish({}))
    expected = [f"{what}" for n in range(3) for what in (f"drain worker-{n} {STOPPING}", f"delete worker-{n}")]
    assert outdated.done == expected
    assert revisions(outdated) == {**dict.fromkeys(sorted(WORKERS), "worker-2"), "burst-0": "burst-1"}
    assert outdated.slurm.drained == {}, "each new slurmd takes the drain of its predecessor away"
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["draining worker-0, to start anew", "replacing worker-0"]
    assert said[2].endswith("for worker-0 to be back")


@pytest.mark.parametrize(("most", "away"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3])])
def test_no_more_are_away_at_a_time_than_the_node_set_allows(
    outdated: Kubernetes, wish: Wish, most: int, away: list[int]
) -> None:
    rolling.restart_outdated(wish({}, most=most))
    assert outdated.away == away


@pytest.mark.parametrize(
    "state", [{"state": {"waiting": {}}, "started": False}, {"state": {"running": {}}, "started": False}]
)
def test_a_pod_whose_slurmd_never_started_is_replaced_first_and_without_a_wait(
    outdated: Kubernetes, wish: Wish, state: dict[str, object]
) -> None:
    outdated.pods["worker-2"]["status"]["containerStatuses"][0] |= state
    rolling.restart_outdated(wish({}))
    assert outdated.done[:2] == ["delete worker-2", f"drain worker-0 {STOPPING}"]
    assert set(revisions(outdated).values()) == {"worker-2", "burst-1"}


def test_a_pod_whose_slurmd_has_crashed_may_have_jobs(outdated: Kubernetes, wish: Wish) -> None:
    [status] = outdated.pods["worker-2"]["status"]["containerStatuses"]
    status |= {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {}}}
    rolling.restart_outdated(wish({}))
    assert outdated.done[0] == f"drain worker-0 {STOPPING}"
    assert f"drain worker-2 {STOPPING}" in outdated.done


def test_jobs_are_waited_for(outdated: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]) -> None:
    outdated.slurm.jobs = [Job(1, nodes="worker-1")]
    outdated.clock.after(60, lambda: outdated.slurm.jobs.clear())
    rolling.restart_outdated(wish({}))
    assert outdated.slurm.lost == []
    assert "1 (alice, on worker-1)" in capsys.readouterr().out


def test_jobs_that_do_not_end_stop_it_and_their_node_serves_on(outdated: Kubernetes, wish: Wish) -> None:
    outdated.slurm.jobs = [Job(1, nodes="worker-1")]
    with pytest.raises(Problem, match=r"1 \(alice, on worker-1\)"):
        rolling.restart_outdated(wish({}))
    assert outdated.slurm.drained == {}
    assert outdated.slurm.lost == []
    assert revisions(outdated)["worker-0"] == "worker-2", "what is done stays done"


def test_the_next_run_goes_on_with_those_that_are_left(outdated: Kubernetes, wish: Wish) -> None:
    outdated.slurm.jobs = [Job(1, nodes="worker-1")]
    with pytest.raises(Problem):
        rolling.restart_outdated(wish({}))
    outdated.slurm.jobs.clear()
    outdated.done.clear()
    rolling.restart_outdated(wish({}))
    assert [each for each in outdated.done if each.startswith("delete")] == ["delete worker-1", "delete worker-2"]


def test_an_administrators_drain_outlives_a_new_pod(outdated: Kubernetes, wish: Wish) -> None:
    outdated.slurm.drain("worker-1", "bad disk")
    rolling.restart_outdated(wish({}))
    assert outdated.slurm.drained == {"worker-1": "bad disk"}
    assert revisions(outdated)["worker-1"] == "worker-2"


def test_a_pod_is_not_replaced_where_nobody_can_say_whether_it_has_jobs(outdated: Kubernetes, wish: Wish) -> None:
    outdated.slurm.up = False
    with pytest.raises(Problem, match="does not answer"):
        rolling.restart_outdated(wish({}))
    assert outdated.done == []


@pytest.mark.parametrize("where", ["Kubernetes", "Slurm"])
def test_one_that_does_not_come_back_holds_up_the_others(
    outdated: Kubernetes, wish: Wish, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = outdated.start

    def broken(name: str) -> None:
        start(name, ready=where == "Slurm")
        if where == "Slurm":
            outdated.slurm.nodes[name].states.add("NOT_RESPONDING")

    monkeypatch.setattr(outdated, "start", broken)
    with pytest.raises(Problem, match="waited 300 s for worker-0 to be back") as told:
        rolling.restart_outdated(wish({}))
    assert "kubectl -n science get pods" in str(told.value)
    assert outdated.done == [f"drain worker-0 {STOPPING}", "delete worker-0"]


def lose(cluster: Kubernetes, name: str) -> None:
    cluster.pods[name]["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]
    cluster.slurm.nodes[name].states.add("NOT_RESPONDING")


def test_a_pod_on_a_machine_that_is_gone_is_reported_and_holds_up_nobody(
    outdated: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    lose(outdated, "worker-0")
    rolling.restart_outdated(wish({}))
    assert [each for each in outdated.done if each.startswith("delete")] == ["delete worker-1", "delete worker-2"]
    assert capsys.readouterr().out.count("not replaced, as their machines do not answer: worker-0") == 1


def test_pods_that_are_away_already_count_as_such(outdated: Kubernetes, wish: Wish) -> None:
    lose(outdated, "worker-0")
    rolling.restart_outdated(wish({}, most=2))
    assert outdated.away == [1, 1], "the third is away on its own account"


def test_a_pod_that_comes_back_by_itself_is_waited_for_before_another_goes(
    outdated: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    outdated.start("worker-0")  # new, and not there yet
    ready = outdated.pods["worker-0"]["status"]["conditions"]
    outdated.pods["worker-0"]["status"]["conditions"] = []
    outdated.clock.after(30, lambda: outdated.pods["worker-0"]["status"].update(conditions=ready))
    rolling.restart_outdated(wish({}))
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.endswith("for worker-0 to be back")


def test_of_outdated_pods_those_that_do_not_serve_anyway_come_first(outdated: Kubernetes, wish: Wish) -> None:
    outdated.pods["worker-2"]["status"]["conditions"] = []
    rolling.restart_outdated(wish({}))
    assert outdated.done[:2] == [f"drain worker-2 {STOPPING}", "delete worker-2"]


def test_kubernetes_is_given_time_to_see_a_change(outdated: Kubernetes, wish: Wish) -> None:
    """Until it has, every pod would look as it should."""
    seen = outdated.sets["worker"]
    seen["metadata"]["generation"] = 2
    seen["status"]["updateRevision"] = "worker-1"
    outdated.clock.after(5, lambda: seen["status"].update(observedGeneration=2, updateRevision="worker-2"))
    rolling.restart_outdated(wish({}))
    assert revisions(outdated)["worker-2"] == "worker-2"


def test_a_kubernetes_that_never_looks_is_told_of(outdated: Kubernetes, wish: Wish) -> None:
    outdated.sets["worker"]["metadata"]["generation"] = 2
    with pytest.raises(Problem, match="waited 60 s for Kubernetes to look at worker"):
        rolling.restart_outdated(wish({}))


def test_nodes_get_a_new_slurmd_only_where_the_change_needs_one(running: Kubernetes, wish: Wish) -> None:
    rolling.restart_nodes(wish(BASE), Plan(), running.clock.now)
    assert running.done == []
    rolling.restart_nodes(wish(LARGER), plan(BASE, LARGER), running.clock.now)
    assert [each for each in running.done if each.startswith("delete")] == [
        f"delete {name}" for name in sorted(WORKERS)
    ]


def test_a_pod_that_is_newer_than_the_attempt_has_its_slurmd_already(running: Kubernetes, wish: Wish) -> None:
    since = running.clock.now
    running.clock.sleep(5)
    running.start("worker-0")
    rolling.restart_nodes(wish(LARGER), plan(BASE, LARGER), since)
    assert [each for each in running.done if each.startswith("delete")] == ["delete worker-1", "delete worker-2"]


def test_no_pod_is_replaced_twice_where_our_clock_is_ahead(running: Kubernetes, wish: Wish) -> None:
    running.skew = -300.0
    rolling.restart_nodes(wish(LARGER), plan(BASE, LARGER), running.clock.now)
    assert [each for each in running.done if each.startswith("delete")] == [
        f"delete {name}" for name in sorted(WORKERS)
    ]


def test_a_change_for_every_slurmd_is_for_dynamic_nodes_too(running: Kubernetes, wish: Wish) -> None:
    wanted = changed(("ClusterName=dev", "ClusterName=dev\nAcctGatherEnergyType=acct_gather_energy/rapl"))
    rolling.restart_nodes(wish(wanted), plan(BASE, wanted), running.clock.now)
    replaced = {name for each in running.done if each.startswith("delete") for name in each.split()[1:]}
    assert replaced == {*WORKERS, "burst-0"}


def test_a_drain_for_a_pod_that_is_not_replaced_after_all_ends(running: Kubernetes) -> None:
    """Its template was put back, and whoever had drained it was killed."""
    running.slurm.drain("worker-0", STOPPING)
    running.slurm.drain("worker-1", "bad disk")
    rolling.release_stale(Cluster("science"))
    assert running.slurm.drained == {"worker-1": "bad disk"}


@pytest.mark.parametrize("state", ["ending", "starting", "gone"])
def test_a_pod_that_comes_or_goes_sees_to_its_own_drain(running: Kubernetes, state: str) -> None:
    running.slurm.drain("worker-0", STOPPING)
    if state == "ending":
        running.pods["worker-0"]["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
    elif state == "starting":
        running.pods["worker-0"]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    else:
        del running.pods["worker-0"]
    rolling.release_stale(Cluster("science"))
    assert running.slurm.drained == {"worker-0": STOPPING}
