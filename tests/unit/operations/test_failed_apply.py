"""An apply that cannot be done: the files of before are put back, and Slurm to them."""

import os
import signal

import pytest

from operations.apply import apply
from operations.prepare import prepare
from operations.problem import Problem
from operations.progress import end_on_signals
from operations.record import Record
from tests.unit.operations import files
from tests.unit.operations.conftest import NODES, Wish
from tests.unit.operations.files import BASE, changed
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job

BAD = "bf_continue,bf_interval=60"  # in RECONFIGURED, and in no other


def test_a_refused_reconfigure_puts_the_files_of_before_back_and_fails_with_slurmctlds_words(
    running: Kubernetes, wish: Wish
) -> None:
    running.slurm.refuses = BAD
    running.slurm.drain("worker-2", "slipway:change")
    with pytest.raises(Problem) as told:
        apply(wish(files.RECONFIGURED))
    said = str(told.value)
    assert "Slurm refused the change: slurm_reconfigure error: Invalid configuration" in said
    assert f"error: {BAD} is not what this slurmctld likes" in said, "scontrol knows only that it did not work"
    assert "The files of before are back, and verified" in said
    assert running.config_maps["slurm-config"] == running.mounted == BASE
    assert running.record == {"applied": BASE, "since": 0.0}
    assert running.slurm.config["SchedulerParameters"] == "bf_continue"
    assert running.slurm.drained == {}
    assert running.done.count("reconfigure") == 2


def test_a_refused_change_is_found_out_within_seconds(running: Kubernetes, wish: Wish) -> None:
    running.slurm.refuses = BAD
    began = running.clock.now
    with pytest.raises(Problem):
        apply(wish(files.RECONFIGURED))
    assert running.clock.now - began < 10


def test_a_reconfigure_that_says_it_failed_and_was_done_counts_as_done(
    running: Kubernetes, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large cluster takes longer than scontrol waits."""
    reconfigure = running.slurm.reconfigure
    timed_out = "slurm_reconfigure error: Socket timed out\n"
    monkeypatch.setattr(running.slurm, "reconfigure", lambda *words: reconfigure(*words) + timed_out)
    apply(wish(files.RECONFIGURED))
    assert running.record["applied"] == files.RECONFIGURED


def test_a_change_that_slurm_takes_and_does_not_show_is_put_back(
    running: Kubernetes, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = running.slurm.read

    def half(wanted: dict[str, str], now: str) -> None:
        read(wanted, now)
        running.slurm.config["SchedulerParameters"] = "bf_continue"

    monkeypatch.setattr(running.slurm, "read", half)
    with pytest.raises(Problem, match=f"SchedulerParameters={BAD} \\(it is bf_continue\\)") as told:
        apply(wish(files.RECONFIGURED))
    assert "The files of before are back" in str(told.value)
    assert running.mounted == BASE
    assert running.record["applied"] == BASE


def test_a_rollback_that_fails_too_says_so_and_leaves_the_record_open(
    running: Kubernetes, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running.slurm, "reconfigure", lambda *_: "slurm_reconfigure error: Out of memory\n")
    with pytest.raises(Problem, match="Putting the files of before back did not go well either") as told:
        apply(wish(files.RECONFIGURED))
    assert str(told.value).count("Out of memory") == 2
    assert "Run `pulumi up` again" in str(told.value)
    assert running.record["applied"] == BASE
    assert running.record["attempts"] == [files.RECONFIGURED]


def test_a_first_deploy_that_fails_has_nothing_to_go_back_to(bare: Kubernetes, wish: Wish) -> None:
    bare.deploy(BASE, NODES, verified=False)
    bare.slurm.refuses = "ClusterName"
    with pytest.raises(Problem, match="Slurm refused the change") as told:
        apply(wish(BASE))
    assert "of before" not in str(told.value)
    assert set(bare.record) == {"attempts", "since"}
    assert bare.done.count("reconfigure") == 1


def test_a_controller_that_cannot_be_reached_any_more_is_told_and_the_record_stays_open(
    running: Kubernetes, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanish(*_: object) -> str:
        running.slurm.up = False
        del running.pods["controller-0"]
        return ""

    monkeypatch.setattr(running.slurm, "reconfigure", vanish)
    with pytest.raises(Problem, match="did not go well either"):
        apply(wish(files.RECONFIGURED))
    assert running.record["attempts"] == [files.RECONFIGURED]
    assert running.config_maps["slurm-config"] == BASE, "for whenever it starts again"


def test_what_an_engine_that_was_killed_has_left_is_the_next_ones(
    running: Kubernetes, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be at work already: two that put files back and forth would never end."""
    running.clock.after(5, lambda: monkeypatch.setattr("operations.progress.os.getppid", lambda: 1))
    with pytest.raises(Problem, match="whoever started this is gone"):
        apply(wish(files.GROWN, nodes="worker-[0-3],burst-0"))
    assert running.config_maps["slurm-config"] == files.GROWN
    assert running.record["attempts"] == [files.GROWN]


@pytest.mark.parametrize("phase", ["during", "after"])
def test_a_good_change_survives_a_controller_that_is_killed(
    running: Kubernetes, wish: Wish, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its successor has read the files. But it has not told the slurmds, which only a reconfigure does."""
    reconfigure = running.slurm.reconfigure

    def killed(wanted: dict[str, str], now: str) -> str:
        monkeypatch.setattr(running.slurm, "reconfigure", reconfigure)
        before = {name: node.started for name, node in running.slurm.nodes.items()}
        running.slurm.read(wanted, now)
        for name, node in running.slurm.nodes.items():
            node.started = before[name]
        running.done.append("killed")
        running._delete(["controller-0"])
        return "slurm_reconfigure error: Unable to contact slurm controller\n" if phase == "during" else ""

    monkeypatch.setattr(running.slurm, "reconfigure", killed)
    apply(wish(files.RECONFIGURED))
    assert running.record == {"applied": files.RECONFIGURED, "since": 0.0}
    assert running.mounted == files.RECONFIGURED
    assert [each for each in running.done if each in ("killed", "reconfigure")] == [
        "reconfigure",
        "killed",
        "reconfigure",
    ]


def test_after_an_unfinished_attempt_a_reconfigure_brings_certainty(running: Kubernetes, wish: Wish) -> None:
    """Though the change alone would be a live one, or none at all."""
    wanted = wish(files.LIVE)
    running.slurm.refuses = "never"
    _attempt(running, wish, files.RECONFIGURED)
    apply(wanted)
    assert [each for each in running.done if each == "reconfigure" or each.startswith("scontrol")] == ["reconfigure"]
    assert running.record == {"applied": files.LIVE, "since": 0.0}


def test_an_unfinished_attempt_is_planned_for_too(running: Kubernetes, wish: Wish) -> None:
    """It may have reached Slurm before whoever made it was killed: then a new slurmctld is what takes it back."""
    _attempt(running, wish, files.RESTARTED)
    apply(wish(BASE))
    assert "delete controller-0" in running.done


def test_nodes_that_an_unfinished_attempt_was_about_to_restart_serve_again(running: Kubernetes, wish: Wish) -> None:
    _attempt(running, wish, files.RECONFIGURED)
    running.slurm.drain("worker-1", "slipway:stopping")
    apply(wish(BASE))
    assert running.slurm.drained == {}


def _attempt(running: Kubernetes, wish: Wish, wanted: dict[str, str]) -> None:
    """As one that was killed between its first word and its last has left it."""
    cluster = wish(wanted).cluster
    Record.read(cluster).open(cluster, wanted)
    running.done.clear()


def test_the_same_attempt_is_taken_up_where_it_was_left(running: Kubernetes, wish: Wish) -> None:
    """Pods that were replaced for it are not replaced again: they are younger than it."""
    _attempt(running, wish, files.LARGER)
    running.clock.sleep(5)
    running.start("worker-0")
    running.clock.sleep(1000)
    apply(wish(files.LARGER))
    assert [each for each in running.done if each.startswith("delete")] == ["delete worker-1", "delete worker-2"]


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancelled_apply_puts_back_what_it_did(
    running: Kubernetes, wish: Wish, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, nodes = running.slurm.read, running.slurm.nodes

    def slow(wanted: dict[str, str], now: str) -> None:
        read(wanted, now)
        if wanted != BASE:
            nodes["worker-0"].started = "2026-01-01T00:00:00"
            running.clock.after(2, lambda: os.kill(os.getpid(), number))

    monkeypatch.setattr(running.slurm, "read", slow)
    end_on_signals()
    with pytest.raises(Problem, match=rf"cancelled \({number.name}\)[\s\S]*The files of before are back"):
        apply(wish(files.RECONFIGURED))
    assert running.config_maps["slurm-config"] == running.mounted == BASE
    assert running.record == {"applied": BASE, "since": 0.0}
    assert running.slurm.config["SchedulerParameters"] == "bf_continue"


def test_a_second_attempt_after_one_that_was_put_back_loses_no_job(running: Kubernetes, wish: Wish) -> None:
    """What was emptied for the first one serves again since. The engine knows that `prepare` went well with these very
    inputs, and does not run it a second time."""
    wanted = changed(("worker-[0-2]", "worker-[0-1]"), ("bf_continue", BAD))
    wishes = wish(wanted, nodes="worker-[0-1],burst-0")
    prepare(wishes)
    running.slurm.refuses = BAD
    with pytest.raises(Problem, match="The files of before are back"):
        apply(wishes)
    running.slurm.refuses = ""
    running.slurm.jobs = [Job(7, nodes="worker-2")]
    running.clock.after(60, lambda: running.slurm.jobs.clear())
    apply(wishes)
    assert running.slurm.lost == []
    assert "worker-2" not in running.slurm.nodes


@pytest.mark.parametrize("seconds", [100, 1000])
def test_what_goes_is_emptied_also_by_a_slurmctld_that_is_slow_to_come_back(
    running: Kubernetes, wish: Wish, seconds: float
) -> None:
    """However long it takes, files without a node do not reach it while the node has jobs."""
    running.slurm.jobs = [Job(7, nodes="worker-2")]
    running.slurm.up = False
    running.clock.after(seconds, lambda: setattr(running.slurm, "up", True))
    running.clock.after(1200, lambda: running.slurm.jobs.clear())
    with pytest.raises(Problem, match="1 job: 7" if seconds == 100 else "nobody can tell which jobs use node worker-2"):
        apply(wish(files.SHRUNK, nodes="worker-[0-1],burst-0"))
    assert running.slurm.lost == []
    assert "worker-2" in running.slurm.nodes
    assert running.config_maps["slurm-config"] == BASE
