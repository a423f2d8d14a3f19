"""Files on their way into the controller's pod."""

import pytest

from operations.kubectl import Cluster
from operations.problem import Problem
from operations.push import push
from tests.unit.operations.files import BASE, LIVE
from tests.unit.operations.kubernetes import Kubernetes

SCIENCE = Cluster("science")


def test_a_config_map_that_the_engine_has_written_is_left_alone(running: Kubernetes) -> None:
    running.config_maps["slurm-config"] = LIVE
    push(SCIENCE, LIVE)
    assert running.done == []
    assert running.mounted == LIVE


def test_a_config_map_that_differs_is_written_as_a_whole(running: Kubernetes) -> None:
    """A failed update has put other files there, and somebody else one that does not belong."""
    running.config_maps["slurm-config"] = {**LIVE, "gres.conf": "AutoDetect=nvml\n"}
    push(SCIENCE, BASE)
    assert running.done == ["write slurm-config"]
    assert running.config_maps["slurm-config"] == running.mounted == BASE


def test_files_come_at_once_because_the_pod_is_touched(running: Kubernetes) -> None:
    began = running.clock.now
    push(SCIENCE, LIVE)
    assert running.mounted == LIVE
    assert running.clock.now - began < 1


def test_a_controller_that_is_not_there_yet_is_waited_for_and_said_once(
    running: Kubernetes, capsys: pytest.CaptureFixture[str]
) -> None:
    del running.pods["controller-0"]
    running.clock.after(20, lambda: running.start("controller-0"))
    push(SCIENCE, LIVE)
    [said] = capsys.readouterr().out.splitlines()
    assert said.endswith('for the pod controller-0 to run (pods "controller-0" not found)')
    assert running.mounted == LIVE


def test_a_pod_that_is_replaced_meanwhile_is_touched_too(running: Kubernetes) -> None:
    """The new one may have started with the files of before."""

    def replace() -> None:
        running.start("controller-0")
        running.mounted = dict(BASE)

    running.clock.after(0.2, lambda: running.pods.pop("controller-0"))
    running.clock.after(5, replace)
    began = running.clock.now
    push(SCIENCE, LIVE)
    assert running.mounted == LIVE
    assert running.clock.now - began < 10


def test_slurmctld_is_waited_for_as_well(running: Kubernetes, capsys: pytest.CaptureFixture[str]) -> None:
    running.slurm.up = False
    running.clock.after(5, lambda: setattr(running.slurm, "up", True))
    push(SCIENCE, LIVE)
    assert "slurmctld to answer" in capsys.readouterr().out
    assert running.slurm.up


@pytest.mark.parametrize(
    ("broken", "waited"),
    [
        (lambda cluster: cluster.pods.clear(), "the pod controller-0 to run"),
        (lambda cluster: setattr(cluster.slurm, "up", False), "slurmctld to answer"),
        (lambda cluster: setattr(cluster, "_touch", lambda: (0, "")), "its files to arrive"),
    ],
    ids=["no pod", "no slurmctld", "no files"],
)
def test_a_controller_that_never_comes_is_an_error_that_says_where_to_look(running: Kubernetes, broken, waited) -> None:
    broken(running)
    with pytest.raises(Problem, match=f"waited 300 s for {waited}") as told:
        push(SCIENCE, LIVE)
    assert "kubectl -n science describe pod controller-0" in str(told.value)


def test_why_kubernetes_cannot_be_reached_is_told(running: Kubernetes) -> None:
    running.reachable = False
    with pytest.raises(Problem, match="no such host"):
        push(SCIENCE, LIVE)
