"""Whether Slurm runs what its files say: what counts as a difference, and what does not."""

import pytest

from operations.act import Done
from operations.shown import Shown
from operations.verify import NotVerified, differences, verify
from slurm.changes import plan
from tests.unit.operations import files
from tests.unit.operations.conftest import Wish
from tests.unit.operations.files import BASE, changed
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Slurmctld


def shows(wanted: dict[str, str]) -> Shown:
    slurm = Slurmctld()
    slurm.read(wanted, "2027-01-15T08:00:00")
    return Shown.parse(slurm.show())


def seen(wanted: dict[str, str], live: Shown, before: dict[str, str] = BASE) -> list[str]:
    return list(differences(plan(before, wanted), shows(wanted), live))


@pytest.mark.parametrize(
    "wanted", [files.LIVE, files.RECONFIGURED, files.GROWN, files.SHRUNK, files.NO_DEBUG, files.LARGER, files.RESTARTED]
)
def test_what_shows_its_files_has_them(wanted: dict[str, str]) -> None:
    assert seen(wanted, shows(wanted)) == []


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        (files.LIVE, ["MaxTime=120 of partition debug (it is 60)"]),
        (files.RECONFIGURED, ["SchedulerParameters=bf_continue,bf_interval=60 (it is bf_continue)"]),
        (files.SHRUNK, ["no node worker-2", "Nodes=worker-[0-1] of partition main (it is worker-[0-2])"]),
        (files.NO_DEBUG, ["no partition debug"]),
        (files.LARGER, [f"CPUTot=2 of node worker-{number} (it is 1)" for number in range(3)]),
    ],
    ids=["field", "key", "node", "partition", "shape"],
)
def test_what_still_shows_the_old_ones_is_told(wanted: dict[str, str], missing: list[str]) -> None:
    assert seen(wanted, shows(BASE)) == missing


def test_what_should_come_and_has_not_is_told() -> None:
    assert "node worker-3" in seen(files.GROWN, shows(BASE))
    assert seen(BASE, shows(files.NO_DEBUG), before=files.NO_DEBUG) == ["partition debug"]


def test_what_the_plan_does_not_change_is_not_compared() -> None:
    """An administrator may have changed it by hand, and nobody asked for that to be undone now."""
    live = shows(files.LIVE)
    live.config["SchedulerParameters"] = "bf_interval=5"
    live.partitions["main"]["MaxTime"] = "5"
    assert seen(files.LIVE, live) == []


def test_a_dynamic_node_is_in_no_file_and_no_difference() -> None:
    live = shows(files.SHRUNK)
    live.nodes["worker-2"] = {"State": "IDLE+DYNAMIC_NORM"}
    assert seen(files.SHRUNK, live) == []


def test_sockets_that_only_a_registered_node_can_tell_are_no_difference() -> None:
    wanted = changed(("Feature=worker", "Feature=worker Gres=gpu:2"))
    live = shows(wanted)
    for node in live.nodes.values():
        node["Gres"] = "gpu:2(S:0-1)"
    assert seen(wanted, live) == []


def test_counts_of_a_partition_come_from_what_runs_there() -> None:
    live = shows(files.LIVE)
    live.partitions["debug"] |= {"TotalNodes": "17", "TotalCPUs": "34", "Nodes": "worker-0,burst-[0-1]"}
    live.nodes["burst-0"] = {"State": "IDLE+DYNAMIC_NORM"}  # and burst-1 is about to be forgotten
    assert seen(files.LIVE, live) == []


def test_nodes_that_a_partition_has_and_should_not_or_should_and_has_not_are_told() -> None:
    wanted = changed(("PartitionName=debug Nodes=worker-0", "PartitionName=debug Nodes=worker-[1-2]"))
    assert seen(wanted, shows(wanted)) == []
    assert seen(wanted, shows(BASE)) == ["Nodes=worker-[1-2] of partition debug (it is worker-0)"]
    fewer = changed(("PartitionName=main Nodes=worker-[0-2],burst", "PartitionName=main Nodes=worker-[0-1],burst"))
    assert seen(fewer, shows(BASE)) == ["Nodes=worker-[0-1] of partition main (it is worker-[0-2])"]
    none = changed((" Nodes=worker-0 ", " "))
    assert seen(none, shows(BASE)) == ["Nodes=(null) of partition debug (it is worker-0)"]


def test_a_live_update_that_was_refused_is_never_verified(running: Kubernetes, wish: Wish) -> None:
    """Not all that it should change shows."""
    assert running.slurm.up
    with pytest.raises(NotVerified, match="Slurm refused the change: slurm_update error"):
        verify(wish(BASE), plan(BASE, BASE), Done("live", said="slurm_update error: Invalid node name"))


@pytest.mark.parametrize("line", ["PriorityWeightAge=500", "SuspendTime=300"])
def test_keys_that_a_rehearsal_cannot_have_are_not_compared_with_it(running: Kubernetes, wish: Wish, line: str) -> None:
    wanted = changed(("ClusterName=dev", f"ClusterName=dev\n{line}"))
    running.config_maps["slurm-config"] = running.mounted = wanted
    running.slurm.read(wanted, running.clock.written())
    verify(wish(wanted), plan(BASE, wanted), Done("reconfigure", running.clock.written()))


def test_one_that_has_not_read_its_files_since_is_not_verified(running: Kubernetes, wish: Wish) -> None:
    with pytest.raises(NotVerified, match="waited 60 s for slurmctld to show that it has read its files at 2027"):
        verify(wish(BASE), plan(BASE, BASE), Done("reconfigure", running.clock.written()))


def test_an_old_slurmd_is_not_verified(running: Kubernetes, wish: Wish) -> None:
    running.slurm.read(BASE, running.clock.written())
    running.slurm.nodes["worker-1"].started = "2027-01-15T07:00:00"
    with pytest.raises(NotVerified, match="slurmd of worker-1 to take the files"):
        verify(wish(BASE), plan(BASE, BASE), Done("reconfigure", running.clock.written()))


def test_all_that_differs_is_told_up_to_a_screen(running: Kubernetes, wish: Wish) -> None:
    assert running.slurm.up
    with pytest.raises(NotVerified) as told:
        verify(wish(files.LARGER), plan(BASE, files.LARGER), Done("live"))
    assert [line for line in str(told.value).splitlines() if "CPUTot=2" in line] == str(told.value).splitlines()
    assert len(str(told.value).splitlines()) == 3


def test_a_slurmctld_that_starts_anew_is_waited_for(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.up = False
    running.clock.after(5, lambda: setattr(running.slurm, "up", True))
    verify(wish(BASE), plan(BASE, BASE), Done("live"))
    first, last = capsys.readouterr().out.splitlines()
    assert first.endswith("for slurmctld to answer")
    assert last == "verified"


def test_a_pod_that_is_replaced_before_it_can_rehearse_is_no_verdict(running: Kubernetes, wish: Wish) -> None:
    running._delete(["controller-0"])
    running.clock.after(90, lambda: running.start("controller-0"))
    verify(wish(BASE), plan(BASE, BASE), Done("live"))


def test_files_that_a_rehearsal_rejects_are_not_verified(running: Kubernetes, wish: Wish) -> None:
    running.rejects = "bf_continue"
    with pytest.raises(NotVerified, match="slurmctld does not start with these files"):
        verify(wish(BASE), plan(BASE, BASE), Done("live"))
