"""Killed, cancelled, cut off, refused: the next update finds its way, and no job notices."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab import paths
from tests.cluster.changes import change
from tests.cluster.rollout.jobs import Jobs
from tests.cluster.rollout.test_least_action import partition
from tests.cluster.rollout.test_shrinking import size
from tests.cluster.stacks import Stack, until
from tests.cluster.updates import mended, settled, slipway, updating

# What an update says as it goes from one phase to the next, and the size that it is on its way to.
PHASES = [
    ("rollout-prepare updating", 3),
    ("slurmctld starts with the new files", 2),
    ("draining nodes", 1),
    ("rollout-config updating", 2),
    ("rollout-apply updating", 3),
    ("reconfigured", 1),
    ("verified", 2),
    ("rollout-roll updating", 3),
    ("rollout-worker updat", 2),
]


@pytest.mark.parametrize(("phase", "number"), PHASES, ids=[phase.replace(" ", "-") for phase, _ in PHASES])
def test_an_update_that_is_killed_is_finished_by_the_next_one(
    rollout: Stack, jobs: Jobs, phase: str, number: int
) -> None:
    partition(rollout, maxTime=f"{number}-00:00:00")
    size(rollout, number)
    with updating(rollout) as update:
        update.until_it_says(phase)
        update.process.kill()
        update.process.wait()
    mended(rollout)
    assert f"MaxTime={number}-00:00:00" in rollout.admin("scontrol", "show", "partition", "main")
    assert rollout.run(f"srun --nodelist=worker-{number - 1} hostname") == f"worker-{number - 1}"


def test_going_back_after_a_killed_drain_gives_the_nodes_back(rollout: Stack, jobs: Jobs) -> None:
    before = rollout.file.read_text()
    long = jobs.submit(None, "--nodelist=worker-1")
    rollout.wait_for_job(long, "RUNNING")
    size(rollout, 1)
    with updating(rollout) as update:
        update.until_it_says(f"for 1 job: {long}")
        update.process.kill()
        update.process.wait()
    rollout.file.write_text(before)
    mended(rollout)
    jobs.tell_to_end(long)
    assert rollout.run("srun --nodelist=worker-1 hostname") == "worker-1"


def test_a_live_updates_lock_is_left_alone(rollout: Stack, jobs: Jobs) -> None:
    long = jobs.submit(None, "--nodelist=worker-1")
    rollout.wait_for_job(long, "RUNNING")
    before = rollout.file.read_text()
    size(rollout, 1)
    with updating(rollout) as update:
        update.until_it_says("waiting until")
        refused = slipway(rollout, "up", "--yes", "--skip-preview", "--non-interactive")
        assert refused.returncode != 0
        assert "locked" in refused.stdout + refused.stderr
        jobs.tell_to_end(long)
        assert update.end() == 0, update.said
    rollout.file.write_text(before)
    mended(rollout)


def test_a_cancelled_update_puts_back_what_it_did(rollout: Stack, jobs: Jobs) -> None:
    before = rollout.file.read_text()
    long = jobs.submit(None, "--nodelist=worker-1")
    rollout.wait_for_job(long, "RUNNING")
    size(rollout, 1)
    with updating(rollout) as update:
        update.until_it_says(f"for 1 job: {long}")
        update.process.send_signal(signal.SIGINT)
        assert update.end() != 0, update.said
    jobs.tell_to_end(long)
    assert "Reason=slipway" not in rollout.admin("scontrol", "show", "node", "worker-1")
    rollout.file.write_text(before)
    mended(rollout)


def test_what_the_rehearsal_refuses_never_reaches_the_cluster(rollout: Stack, jobs: Jobs) -> None:
    before = rollout.file.read_text()
    change(rollout, "slurm", extra={"SchedulerType": "sched/nothing"})
    try:
        failed = rollout.pulumi("up", "--yes", "--skip-preview")
        assert failed.returncode != 0
        assert "fatal: Failed to initialize the various schedulers" in failed.stdout + failed.stderr
        assert "sched/nothing" not in rollout.kubectl("get", "configmap", "slurm-config", "-o", "yaml")
    finally:
        rollout.file.write_text(before)
    mended(rollout)


def test_what_only_the_live_slurmctld_refuses_is_taken_back(rollout: Stack, jobs: Jobs) -> None:
    before = rollout.file.read_text()
    change(rollout, "slurm", extra={"JobCompType": "jobcomp/filetxt", "JobCompLoc": "/nowhere/at/all"})
    try:
        for _ in range(2):  # and the second time as well
            failed = rollout.pulumi("up", "--yes", "--skip-preview")
            said = failed.stdout + failed.stderr
            assert failed.returncode != 0
            assert "fatal: open /nowhere/at/all: No such file or directory" in said
            assert "The files of before are back, and verified" in said
            assert (
                "jobcomp"
                not in rollout.kubectl("get", "configmap", "slurm-config", "-o", "yaml").split("managedFields")[0]
            )
            assert rollout.run("srun hostname")
    finally:
        rollout.file.write_text(before)
    mended(rollout)


@pytest.mark.parametrize(
    ("phase", "hours"), [("rollout-config updating", 20), ("rollout-apply updating", 21), ("reconfigured", 22)]
)
def test_a_controller_that_is_killed_on_the_way_is_waited_for(
    rollout: Stack, jobs: Jobs, phase: str, hours: int
) -> None:
    partition(rollout, maxTime=f"{hours}:00:00")
    change(rollout, "slurm", extra={"KillWait": 20 + hours})
    with updating(rollout) as update:
        update.until_it_says(phase)
        rollout.kubectl("delete", "pod", "controller-0", "--grace-period=0", "--force")
        assert update.end() == 0, update.said
    assert "putting the files of before back" not in update.said
    settled(rollout)
    assert f"{hours}:00:00" in rollout.admin("scontrol", "show", "partition", "main")


def test_an_api_server_that_is_away_for_twenty_seconds_is_waited_for(rollout: Stack, jobs: Jobs) -> None:
    server = process_of(rollout, "kube-apiserver")
    partition(rollout, maxTime="4-00:00:00")
    with updating(rollout) as update:
        update.until_it_says("rollout-prepare updating")
        os.kill(server, signal.SIGSTOP)
        try:
            time.sleep(20)  # as long as it is said to be away
        finally:
            os.kill(server, signal.SIGCONT)
        assert update.end() == 0, update.said
    settled(rollout)
    assert "MaxTime=4-00:00:00" in rollout.admin("scontrol", "show", "partition", "main")


def process_of(stack: Stack, name: str) -> int:
    """A process of this lab, by its name and its home."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        words = each.read_bytes().split(b"\0")
        if words[0].endswith(name.encode()) and str(stack.lab.home).encode() in b" ".join(words):
            return int(each.parent.name)
    raise AssertionError(f"there is no {name} of lab {stack.lab.name}")


def test_two_changes_in_quick_succession_both_arrive(rollout: Stack, jobs: Jobs) -> None:
    partition(rollout, maxTime="5-00:00:00")
    rollout.up("--skip-preview")
    partition(rollout, maxTime="6-00:00:00", priorityTier=9)
    rollout.up("--skip-preview")
    shown = rollout.admin("scontrol", "show", "partition", "main")
    assert "MaxTime=6-00:00:00" in shown
    assert "PriorityTier=9" in shown
    settled(rollout)


def test_a_machine_that_loses_its_power_during_a_drain_is_reported_and_comes_back(rollout: Stack) -> None:
    before = rollout.file.read_text()
    apart = rollout.run("sbatch --parsable -w side-0 -o /dev/null --wrap 'sleep 40'")
    lost = rollout.run("sbatch --parsable --no-requeue -w worker-1 -o /dev/null --wrap 'sleep 300'")
    rollout.wait_for_job(lost, "RUNNING")
    rollout.wait_for_job(apart, "RUNNING")
    change(rollout, "drain", timeout="15s")
    size(rollout, 1)
    power = [str(paths.CHECKOUT / ".venv" / "bin" / "lab"), "--name", rollout.lab.name, "node"]
    try:
        with updating(rollout) as update:
            update.until_it_says(f"for 1 job: {lost}")
            subprocess.run([*power, "stop", "compute-0"], check=True, capture_output=True)
            assert update.end() != 0, update.said
            assert f"{lost} (researcher, on worker-1)" in update.said
    finally:
        subprocess.run([*power, "start", "compute-0"], check=True, capture_output=True)
        rollout.file.write_text(before)
    assert rollout.wait_for_job(apart)["Restarts"] == "0"
    until(
        lambda: rollout.ssh("srun --immediate=5 --nodelist=worker-1 true").returncode == 0, "worker-1 to be back", 240
    )
    rollout.run(f"scancel {lost} || true")
    mended(rollout)
