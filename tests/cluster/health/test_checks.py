"""Nodes that fail are drained with a reason of ours and come back by themselves; others' drains stay."""

import time

from tests.cluster.changes import change
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.health.conftest import CONFIG, drained, resumed, shown
from tests.cluster.stacks import Stack, until

Nodes = dict[str, str]


def remount(stack: Stack, node: str, how: str) -> None:
    stack.kubectl("exec", node, "-c", "slurmd", "--", "mount", "-o", f"remount,bind,{how}", "/mnt/jail")


def test_nodes_that_are_well_run_jobs_and_have_been_checked(health: Stack, nodes: Nodes) -> None:
    assert sorted(health.run("srun --nodes=2 hostname").split()) == ["worker-0", "worker-1"]
    assert set(nodes.values()) == {"system-0", "compute-0"}
    look = ("exec", "worker-0", "-c", "slurmd", "--", "cat", "/run/slipway/health/drained")
    assert health.kubectl(*look) == "no\n"
    # That the clocks were compared, and not only that slurmctld did not answer.
    health.kubectl("exec", "worker-0", "-c", "slurmd", "--", "test", "-e", "/run/slipway/health/clock")


def test_a_shared_root_that_cannot_be_written_to_takes_its_node_out_of_service(health: Stack, nodes: Nodes) -> None:
    remount(health, "worker-1", "ro")
    try:
        began = time.monotonic()
        assert drained(health, "worker-1", "slipway:health") == "slipway:health: jail: /mnt/jail cannot be written to"
        assert time.monotonic() - began < 20
        assert health.run("srun hostname") == "worker-0"
        waiting = submitted(health.run("sbatch -o /dev/null --nodelist=worker-1 --wrap true"))
    finally:
        remount(health, "worker-1", "rw")
    resumed(health, "worker-1")
    assert health.wait_for_job(waiting)["Restarts"] == "0"


def test_an_own_check_drains_while_a_running_job_goes_on(health: Stack, nodes: Nodes) -> None:
    job = submitted(health.run("sbatch -o /dev/null --nodelist=worker-0 --wrap 'sleep 15'"))
    health.wait_for_job(job, "RUNNING")
    health.run("touch ~/broken-worker-0")
    reason = drained(health, "worker-0", "slipway:health")
    assert reason == "slipway:health: file: a file says that worker-0 is broken"
    assert health.wait_for_job(job)["Restarts"] == "0"
    health.run("rm ~/broken-worker-0")
    resumed(health, "worker-0")


def test_an_administrators_drain_stays_whatever_the_checks_say(health: Stack, nodes: Nodes) -> None:
    health.admin("scontrol", "update", "NodeName=worker-1", "State=DRAIN", "Reason=new memory on Friday")
    try:
        health.run("touch ~/broken-worker-1 ~/broken-worker-0")
        drained(health, "worker-0", "slipway:health")  # so a round has passed
        health.run("rm ~/broken-worker-1 ~/broken-worker-0")
        resumed(health, "worker-0")
        states, reason = shown(health, "worker-1")
        assert "DRAIN" in states
        assert reason == "new memory on Friday"
    finally:
        health.admin("scontrol", "update", "NodeName=worker-1", "State=RESUME")


def test_a_prolog_that_fails_costs_the_job_nothing_but_time(health: Stack, nodes: Nodes) -> None:
    health.run("touch ~/picky-worker-0")
    # Both nodes would do, and it is tried on the first one first.
    job = submitted(health.run("sbatch -o where.txt --wrap hostname"))
    reason = drained(health, "worker-0", "prolog")
    assert reason == "prolog picky failed: not on worker-0"

    def again() -> bool:
        fields = health.wait_for_job(job, "PENDING", "RUNNING", "COMPLETED")
        if fields["JobState"] == "PENDING":  # Slurm lets two minutes pass; nobody wants to wait here
            assert "Held" not in fields["Reason"]
            health.ssh(f"scontrol update JobId={job} StartTime=now")
        return fields["JobState"] == "COMPLETED"

    until(again, f"job {job} to run elsewhere", 90)
    assert health.run("cat where.txt") == "worker-1"
    health.run("rm ~/picky-worker-0")
    time.sleep(15)  # two rounds and more, in which nobody takes the drain away: it is not ours
    assert shown(health, "worker-0")[1] == reason
    health.admin("scontrol", "update", "NodeName=worker-0", "State=RESUME")


def test_after_a_job_its_epilog_runs_and_nothing_of_it_stays_in_memory(health: Stack, nodes: Nodes) -> None:
    job = submitted(health.run("sbatch -o /dev/null --nodelist=worker-1 --wrap 'echo left > /dev/shm/left; sleep 1'"))
    health.wait_for_job(job)
    until(lambda: job in health.ssh("cat ~/epilog-worker-1").stdout.split(), "the epilog to have run")
    assert "left" not in health.kubectl("exec", "worker-1", "-c", "slurmd", "--", "ls", "/dev/shm").split()


def test_a_check_that_is_added_takes_effect_and_the_end_of_all_checks_gives_nodes_back(
    health: Stack, nodes: Nodes
) -> None:
    checks = {**CONFIG["health"]["checks"], "added": "test $NODE != worker-0 || { echo added; exit 1; }"}
    change(health, "health", checks=checks)
    health.up()
    drained(health, "worker-0", "slipway:health: added: added")
    change(health, "health", enabled=False)
    health.up()
    states, reason = shown(health, "worker-0")
    assert ("DRAIN" in states, reason) == (False, "")
    change(health, "health", **CONFIG["health"])
    health.up()
