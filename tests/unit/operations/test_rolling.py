"""Pods whose template has changed are replaced, but never under their jobs."""

from typing import Any

import pytest

from operations import rolling
from operations.kubectl import Cluster
from operations.problem import Problem
from tests.unit.operations.kubectl import Kubectl, items

OLD, NEW = "worker-old", "worker-new"


def pod(name: str, revision: str, ready: bool = True) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": str(ready)}]
    labels = {"controller-revision-hash": revision}
    containers = [{"name": "slurmd", "state": {"running": {}} if ready else {"waiting": {}}}]
    status = {"conditions": conditions, "containerStatuses": containers}
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def drain(seconds: float = 600, on_timeout: str = "fail", most: int = 1) -> rolling.Drain:
    return rolling.Drain(seconds, on_timeout, {"worker": most})


@pytest.fixture
def cluster(kubectl: Kubectl) -> Cluster:
    metadata = {"name": "worker", "generation": 2}
    status = {"observedGeneration": 2, "updateRevision": NEW}
    kubectl.answers_at_first("statefulsets", items({"metadata": metadata, "status": status}))
    kubectl.answers("pods-after", items(pod("worker-0", NEW), pod("worker-1", NEW)))
    return Cluster("science")


def deletes(kubectl: Kubectl) -> list[str]:
    return [call.split("--timeout=300s ")[1] for call in kubectl.calls if call.startswith("delete")]


def test_pods_that_are_as_they_should_be_are_left_alone(kubectl: Kubectl, cluster: Cluster) -> None:
    kubectl.answers("pods", items(pod("worker-0", NEW), pod("worker-1", NEW)))
    rolling.restart_outdated(cluster, drain())
    assert kubectl.asked == ["statefulsets", "pods"]


def test_an_outdated_pod_is_drained_then_replaced_then_waited_for(kubectl: Kubectl, cluster: Cluster, capsys) -> None:
    kubectl.answers("pods", items(pod("worker-0", NEW), pod("worker-1", OLD)))
    rolling.restart_outdated(cluster, drain())
    assert kubectl.asked == ["statefulsets", "pods", "drain", "squeue", "delete", "pods-after"]
    assert deletes(kubectl) == ["worker-1"]
    assert capsys.readouterr().out.splitlines() == [
        "draining worker-1, whose pods have changed",
        "replacing worker-1",
    ]


@pytest.mark.parametrize(("most", "first"), [(1, "worker-0"), (2, "worker-0 worker-1")])
def test_no_more_are_away_at_a_time_than_the_node_set_allows(
    kubectl: Kubectl, cluster: Cluster, most: int, first: str
) -> None:
    kubectl.answers("pods", items(pod("worker-0", OLD), pod("worker-1", OLD)))
    rolling.restart_outdated(cluster, drain(most=most))
    assert deletes(kubectl)[0] == first


def test_jobs_are_waited_for(kubectl: Kubectl, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("operations.progress.time.sleep", lambda _: None)
    kubectl.answers("pods", items(pod("worker-1", OLD)))
    kubectl.answers_at_first("squeue", "42 alice\n")
    kubectl.answers("squeue", "")
    rolling.restart_outdated(cluster, drain())
    assert "waiting for 1 jobs on worker-1: 42 alice" in capsys.readouterr().out
    words = [call.split()[0] for call in kubectl.calls]
    assert words.index("delete") > len(words) - 1 - words[::-1].index("squeue")


def test_jobs_that_do_not_end_stop_the_update_and_are_left_alone(kubectl: Kubectl, cluster: Cluster) -> None:
    kubectl.answers("pods", items(pod("worker-1", OLD)))
    kubectl.answers_at_first("squeue", "42 alice\n")
    with pytest.raises(Problem, match="42 alice") as told:
        rolling.restart_outdated(cluster, drain(seconds=0))
    assert "drain.onTimeout" in str(told.value)
    assert kubectl.asked[-1] == "undrain"
    assert not {"delete", "end-jobs"} & set(kubectl.asked)


@pytest.mark.parametrize("on_timeout", ["requeue", "cancel"])
def test_jobs_end_only_where_the_stack_says_so(kubectl: Kubectl, cluster: Cluster, on_timeout: str) -> None:
    kubectl.answers("pods", items(pod("worker-1", OLD)))
    kubectl.answers_at_first("squeue", "42 alice\n")
    rolling.restart_outdated(cluster, drain(seconds=0, on_timeout=on_timeout))
    assert kubectl.asked.index("end-jobs") < kubectl.asked.index("delete")


def test_a_pod_that_never_came_up_is_replaced_at_once(kubectl: Kubectl, cluster: Cluster) -> None:
    kubectl.answers("pods", items(pod("worker-0", OLD), pod("worker-1", OLD, ready=False)))
    rolling.restart_outdated(cluster, drain())
    assert deletes(kubectl)[0] == "worker-1"


def test_a_pod_that_does_not_come_back_is_named(
    kubectl: Kubectl, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolling, "READY_SECONDS", 0)
    kubectl.answers("pods", items(pod("worker-1", OLD)))
    kubectl.answers_at_first("pods-after", items(pod("worker-1", NEW, ready=False)))
    with pytest.raises(Problem, match="worker-1 to be back"):
        rolling.restart_outdated(cluster, drain())


def test_kubernetes_is_given_time_to_see_a_change(kubectl: Kubectl, cluster: Cluster) -> None:
    """Until it has, every pod would look as it should."""
    seen = (kubectl.folder / "statefulsets.1.out").read_text()
    kubectl.answers_at_first("statefulsets", seen.replace('"observedGeneration": 2', '"observedGeneration": 1'))
    kubectl.answers("statefulsets", seen)
    kubectl.answers("pods", items(pod("worker-1", NEW)))
    rolling.restart_outdated(cluster, drain())
    assert [call.split()[0] for call in kubectl.calls] == ["statefulsets", "statefulsets", "pods"]


def test_a_pod_is_not_replaced_where_nobody_can_say_whether_it_has_jobs(
    kubectl: Kubectl, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl.answers("pods", items(pod("worker-1", OLD)))
    kubectl.answers_at_first("squeue", err="slurm_load_jobs error: Unable to contact slurm controller", code=1)
    with pytest.raises(Problem):
        rolling.restart_outdated(cluster, drain(seconds=0))
    assert "delete" not in kubectl.asked


def test_a_pod_is_not_replaced_where_it_could_not_be_drained(kubectl: Kubectl, cluster: Cluster) -> None:
    kubectl.answers("pods", items(pod("worker-1", OLD)))
    kubectl.answers_at_first("drain", err="slurm_update error: Unable to contact slurm controller", code=1)
    with pytest.raises(Problem):
        rolling.restart_outdated(cluster, drain())
    assert "delete" not in kubectl.asked


def test_limits_come_from_the_environment() -> None:
    environment = {
        "SLIPWAY_MAX_UNAVAILABLE": "worker=2,gpu=1",
        "SLIPWAY_DRAIN_SECONDS": "inf",
        "SLIPWAY_DRAIN_ON_TIMEOUT": "requeue",
    }
    read = rolling.Drain.from_environment(environment)
    assert read == rolling.Drain(float("inf"), "requeue", {"worker": 2, "gpu": 1})
    assert rolling.Drain.from_environment({**environment, "SLIPWAY_MAX_UNAVAILABLE": ""}).max_unavailable == {}
