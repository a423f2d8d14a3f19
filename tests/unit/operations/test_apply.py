"""`operations/run apply`: the running Slurm is brought to new files by the least that suffices."""

import pytest

from operations import apply as module
from operations.apply import apply
from operations.problem import Problem
from slurm.changes import plan
from tests.unit.operations import files
from tests.unit.operations.conftest import NODES, Wish
from tests.unit.operations.files import BASE, changed
from tests.unit.operations.kubernetes import Kubernetes


def acts(cluster: Kubernetes) -> list[str]:
    """What was done to Slurm, without what was written down about it."""
    return [each for each in cluster.done if not each.startswith(("record", "write", "rehearse"))]


def test_the_first_deploy_is_one_reconfigure_and_ends_with_a_closed_record(
    bare: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    """slurmctld has started with these very files; slurmds that came earlier have not."""
    bare.deploy(BASE, NODES, verified=False)
    apply(wish(BASE))
    assert acts(bare) == ["reconfigure"]
    assert bare.done[0] == "record attempts"
    assert bare.done[-1] == "record applied"
    assert bare.record["applied"] == BASE
    assert capsys.readouterr().out.splitlines() == ["reconfigured", "verified"]


def test_nothing_is_done_to_slurm_where_only_a_comment_has_changed(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    commented = changed(("ClusterName=dev", "# a word\nClusterName=dev"))
    apply(wish(commented))
    assert acts(running) == []
    assert running.mounted == commented, "it reads them when it starts the next time"
    assert running.record["applied"] == commented
    assert "nothing to do" in capsys.readouterr().out


def test_a_live_change_is_the_plans_own_scontrol_lines_and_no_reconfigure(running: Kubernetes, wish: Wish) -> None:
    wanted = changed(("MaxTime=60", "MaxTime=120"), ("SlurmctldDebug=info", "SlurmctldDebug=debug"))
    lines = [command for step in plan(BASE, wanted).steps for command in step.commands]
    assert len(lines) == 2
    apply(wish(wanted))
    assert acts(running) == lines
    assert running.slurm.partitions["debug"]["MaxTime"] == "120"
    assert running.slurm.config["SlurmctldDebug"] == "debug"
    assert running.record["applied"] == wanted


def test_a_live_update_that_does_not_suffice_is_followed_by_one_reconfigure(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.deaf = True
    apply(wish(files.LIVE))
    assert acts(running) == ["scontrol update PartitionName=debug MaxTime=120", "reconfigure"]
    assert running.slurm.partitions["debug"]["MaxTime"] == "120"
    said = capsys.readouterr().out
    assert "MaxTime=120 of partition debug (it is 60)" in said
    assert "the live update did not suffice" in said


def test_a_live_update_that_slurm_refuses_is_followed_by_one_reconfigure(running: Kubernetes, wish: Wish) -> None:
    """It may know from a file what it does not take by word."""
    running.slurm.refuses = "PartitionName=debug MaxTime=120"
    apply(wish(files.LIVE))
    assert acts(running)[-1] == "reconfigure"
    assert running.record["applied"] == files.LIVE


def test_other_nodes_of_a_partition_are_verified_too(running: Kubernetes, wish: Wish) -> None:
    wanted = changed(("PartitionName=debug Nodes=worker-0", "PartitionName=debug Nodes=worker-1"))
    running.slurm.deaf = True
    apply(wish(wanted))
    assert acts(running) == ["scontrol update PartitionName=debug Nodes=worker-1", "reconfigure"]


def test_many_changes_that_need_a_reconfigure_are_one(running: Kubernetes, wish: Wish) -> None:
    wanted = changed(("bf_continue", "bf_interval=60"), ("MaxTime=60", "MaxTime=90"), ("SlurmdPort=6818\n", ""))
    apply(wish(wanted))
    assert acts(running) == ["reconfigure"]
    assert running.slurm.partitions["debug"]["MaxTime"] == "90"


def test_a_change_for_a_new_slurmctld_replaces_its_pod_and_reconfigures(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    before = running.pods["controller-0"]["metadata"]["uid"]
    apply(wish(files.RESTARTED))
    assert acts(running) == ["delete controller-0", "reconfigure"]
    assert running.pods["controller-0"]["metadata"]["uid"] != before
    assert running.slurm.config["MCSPlugin"] == "mcs/user"
    said = capsys.readouterr().out
    assert "restarting slurmctld" in said
    assert "the pod controller-0 to be replaced" in said


def test_a_slurmctld_that_is_slow_to_end_is_not_taken_for_its_successor(
    running: Kubernetes, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers until its last moment, and a reconfigure of it would be for nothing."""
    delete = running._delete

    def slowly(names: list[str]) -> str:
        running.clock.after(5, lambda: delete(names))
        return ""

    monkeypatch.setattr(running, "_delete", slowly)
    apply(wish(files.RESTARTED))
    assert acts(running) == ["delete controller-0", "reconfigure"]


def test_every_slurmd_that_answers_has_read_the_files_and_others_are_named(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.nodes["worker-2"].states.add("NOT_RESPONDING")
    began = running.clock.written()
    apply(wish(files.RECONFIGURED))
    started = {name: node.started >= began for name, node in running.slurm.nodes.items()}
    assert started == {"worker-0": True, "worker-1": True, "worker-2": False, "burst-0": True}
    assert "not waited for, as they do not answer: worker-2" in capsys.readouterr().out


def test_nodes_that_are_powered_down_or_down_are_named_too(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.nodes["worker-0"].states |= {"POWERED_DOWN", "NOT_RESPONDING"}
    running.slurm.nodes["worker-1"].states = {"DOWN"}
    running.slurm.nodes["worker-2"].states |= {"POWERING_DOWN"}
    apply(wish(files.RECONFIGURED))
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("not waited for")] == [
        "not waited for, as they are powered down: worker-[0,2]",
        "not waited for, as they are down: worker-1",
    ]


def test_a_slurmd_that_is_slow_to_take_the_files_is_waited_for(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, read = running.slurm.nodes["worker-1"], running.slurm.read

    def slowly(wanted: dict[str, str], now: str) -> None:
        before = node.started
        read(wanted, now)
        node.started = before
        running.clock.after(5, lambda: setattr(node, "started", running.clock.written()))

    monkeypatch.setattr(running.slurm, "read", slowly)
    apply(wish(files.RECONFIGURED))
    assert "slurmd of worker-1 to take the files" in capsys.readouterr().out
    assert running.record["applied"] == files.RECONFIGURED


def test_names_of_new_pods_are_waited_for_before_slurmctld_looks_them_up(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.clock.after(10, lambda: running.start("worker-3"))
    apply(wish(files.GROWN, nodes="worker-[0-3],burst-0"))
    assert "for the pods of worker-3 to get their names" in capsys.readouterr().out
    assert acts(running) == ["reconfigure"]
    assert "worker-3" in running.slurm.nodes


def test_names_that_never_come_put_the_files_of_before_back(running: Kubernetes, wish: Wish) -> None:
    """The next start of slurmctld would look the names up."""
    running.config_maps["slurm-config"] = files.GROWN  # by the engine
    with pytest.raises(Problem, match=r"waited 120 s for the pods of worker-3 to get their names") as told:
        apply(wish(files.GROWN, nodes="worker-[0-3],burst-0"))
    assert "kubectl -n science get pods" in str(told.value)
    assert "The files of before are back, and verified" in str(told.value)
    assert running.config_maps["slurm-config"] == running.mounted == BASE
    assert running.record == {"applied": BASE, "since": 0.0}
    assert "worker-3" not in running.slurm.nodes


def test_names_are_not_looked_for_where_no_node_comes(running: Kubernetes, wish: Wish) -> None:
    """A pod on a machine that is gone has no name, and its node does not come with this change."""
    del running.pods["burst-0"], running.slurm.nodes["burst-0"]
    apply(wish(files.RECONFIGURED))
    assert acts(running) == ["reconfigure"]


def test_drains_of_the_change_end_with_it_and_those_of_administrators_do_not(running: Kubernetes, wish: Wish) -> None:
    running.slurm.drain("worker-0", "slipway:change")
    running.slurm.drain("worker-1", "bad disk")
    running.slurm.drain("worker-2", "slipway:stopping")
    apply(wish(files.RECONFIGURED))
    assert running.slurm.drained == {"worker-1": "bad disk", "worker-2": "slipway:stopping"}


def test_workers_that_need_a_new_slurmd_get_a_new_pod(running: Kubernetes, wish: Wish) -> None:
    before = {name: pod["metadata"]["uid"] for name, pod in running.pods.items()}
    running.slurm.drain("worker-[0-2]", "slipway:change")
    apply(wish(files.LARGER))
    fresh = {name for name, pod in running.pods.items() if pod["metadata"]["uid"] != before[name]}
    assert fresh == {"worker-0", "worker-1", "worker-2"}
    assert acts(running)[0] == "reconfigure"
    assert running.slurm.drained == {}


def test_many_names_are_told_shortly() -> None:
    assert module.shown_nodes(["a", "b"]) == "a, b"
    assert module.shown_nodes([f"n-{number}" for number in range(20)]).endswith("n-7 and 12 more")


def test_nodes_that_slurm_starts_when_it_needs_them_have_no_names_yet(running: Kubernetes, wish: Wish) -> None:
    apply(wish(files.ELASTIC, "worker-[0-2],burst-0,elastic-[0-9]"))
    assert "elastic-9" in running.slurm.nodes
    assert running.record == {"applied": files.ELASTIC, "since": 0.0}
