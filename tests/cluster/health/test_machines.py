"""What becomes of machines is told to Slurm, and nodes come back without hands."""

import json
import time

from tests.cluster.changes import uids
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.health.conftest import REBOOT, drained, machines, resumed, shown
from tests.cluster.machines import without_power
from tests.cluster.stacks import Stack, until

Nodes = dict[str, str]


def on(nodes: Nodes, machine: str) -> str:
    """The node whose pod is there."""
    return next(node for node, place in nodes.items() if place == machine)


def test_a_cordon_is_a_drain_and_a_running_job_goes_on(health: Stack, nodes: Nodes) -> None:
    node = on(nodes, "compute-0")
    job = submitted(health.run(f"sbatch -o /dev/null --nodelist={node} --wrap 'sleep 20'"))
    health.wait_for_job(job, "RUNNING")
    health.kubectl("cordon", "compute-0")
    try:
        assert drained(health, node, "slipway:cordoned") == "slipway:cordoned: compute-0 is cordoned"
        assert health.run("srun hostname") == on(nodes, "system-0")
        assert health.wait_for_job(job)["Restarts"] == "0"
        assert "DRAIN" in shown(health, node)[0]
    finally:
        health.kubectl("uncordon", "compute-0")
    resumed(health, node)


def test_an_administrators_drain_outlives_a_cordon(health: Stack, nodes: Nodes) -> None:
    node = on(nodes, "compute-0")
    health.admin("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=broken fan")
    try:
        for verb in ("cordon", "uncordon"):
            health.kubectl(verb, "compute-0")
            time.sleep(12)  # two rounds of the caretaker, which must do nothing
            states, reason = shown(health, node)
            assert "DRAIN" in states
            assert reason == "broken fan"
    finally:
        health.kubectl("uncordon", "compute-0")
        health.admin("scontrol", "update", f"NodeName={node}", "State=RESUME")


def test_a_stuck_slurmd_is_replaced_and_its_job_goes_back_into_the_queue(health: Stack, nodes: Nodes) -> None:
    before = uids(health, "slipway/node-set")
    job = submitted(health.run("sbatch -o /dev/null --requeue --nodelist=worker-1 --wrap 'sleep 600'"))
    health.wait_for_job(job, "RUNNING")
    # The daemon itself, not the steps of its jobs.
    stop = "for each in /proc/[0-9]*; do grep -qx slurmd $each/comm && kill -STOP ${each#/proc/}; done; true"
    health.kubectl("exec", "worker-1", "-c", "slurmd", "--", "sh", "-c", stop)
    until(lambda: uids(health, "slipway/node-set").get("worker-1") not in (None, before["worker-1"]), "a new pod", 180)
    until(lambda: health.ssh("srun --immediate=20 --nodelist=worker-1 hostname").returncode == 0, "worker-1", 120)
    assert health.wait_for_job(job, "PENDING", "RUNNING")["Restarts"] == "1"
    health.run(f"scancel {job}")
    assert uids(health, "slipway/node-set")["worker-0"] == before["worker-0"]


def test_processes_that_slurm_could_not_end_go_with_their_pod(health: Stack, nodes: Nodes) -> None:
    before = uids(health, "slipway/node-set")
    # As slurmd does when a job outlives UnkillableStepTimeout.
    health.admin("scontrol", "update", "NodeName=worker-0", "State=DRAIN", "Reason=Kill task failed")
    until(lambda: uids(health, "slipway/node-set").get("worker-0") not in (None, before["worker-0"]), "a new pod", 120)
    resumed(health, "worker-0")
    until(lambda: health.ssh("srun --immediate=20 --nodelist=worker-0 hostname").returncode == 0, "worker-0", 120)


def test_after_a_power_cut_jobs_are_requeued_as_they_wish_and_the_node_comes_back(health: Stack, nodes: Nodes) -> None:
    node = on(nodes, "compute-0")
    script = "test -e ~/cut.txt || { touch ~/cut.txt; sleep 600; }; echo again > ~/cut.txt"
    health.run("rm -f ~/cut.txt")
    again = submitted(health.run(f"sbatch -o /dev/null --requeue --nodelist={node} --wrap '{script}'"))
    once = submitted(health.run(f"sbatch -o /dev/null --no-requeue --nodelist={node} --wrap 'sleep 600'"))
    for job in (again, once):
        health.wait_for_job(job, "RUNNING")
    until(lambda: health.ssh("test -e ~/cut.txt").returncode == 0, "the job to have begun")
    with without_power(health, "compute-0"):
        until(lambda: "DOWN" in shown(health, node)[0], f"{node} to be down", 150)
        assert health.wait_for_job(again, "PENDING")["Restarts"] == "1"
        health.wait_for_job(once, "NODE_FAIL")
        assert health.run("srun hostname") == on(nodes, "system-0"), "the others work on"
    resumed(health, node, 180)
    until(
        lambda: health.ssh(f"srun --immediate=20 --nodelist={node} hostname").returncode == 0, f"{node} to serve", 180
    )
    health.run(f"scontrol update JobId={again} StartTime=now")
    health.wait_for_job(again)
    assert health.run("cat ~/cut.txt") == "again"


def request(stack: Stack, machine: str) -> str:
    """The request for a reboot that the platform sees; empty if there is none."""
    annotations = json.loads(stack.kubectl("get", "node", machine, "-o", "json"))["metadata"]["annotations"]
    return annotations.get(REBOOT, "")


def boot(stack: Stack, machine: str, number: str) -> None:
    """As the kubelet would after a boot. The lab's machines share one kernel, so that theirs says the old one soon."""
    change = json.dumps({"status": {"nodeInfo": {"bootID": number}}})
    stack.kubectl("patch", "node", machine, "--subresource=status", "--type=merge", "-p", change)


def test_a_reboot_is_asked_for_when_the_machine_is_empty_and_settled_by_the_boot(health: Stack, nodes: Nodes) -> None:
    node = on(nodes, "compute-0")
    job = submitted(health.run(f"sbatch -o /dev/null --nodelist={node} --wrap 'sleep 20'"))
    health.wait_for_job(job, "RUNNING")
    health.run(f"touch ~/reboot-{node}")
    assert "file: reboot: a file says so" in drained(health, node, "slipway:reboot@compute-0/")
    assert request(health, "compute-0") == "", "a job runs there"
    health.wait_for_job(job)
    value = until(lambda: request(health, "compute-0"), "the request")
    assert value.endswith("Z file: reboot: a file says so")
    health.run(f"rm ~/reboot-{node}")

    def settled() -> bool:
        boot(health, "compute-0", "another-boot")
        return "DRAIN" not in shown(health, node)[0] and not request(health, "compute-0")

    until(settled, f"{node} to be resumed and the request to go")


def test_scontrol_reboot_is_a_request_that_can_be_taken_back(health: Stack, nodes: Nodes) -> None:
    node = on(nodes, "compute-0")
    health.admin("scontrol", "reboot", "ASAP", "nextstate=RESUME", "reason=new kernel", node)
    value = until(lambda: request(health, "compute-0"), "the request")
    assert "new kernel" in value
    health.admin("scontrol", "update", f"NodeName={node}", "State=RESUME")
    until(lambda: not request(health, "compute-0"), "the request to go")


def test_a_machine_is_emptied_when_its_jobs_have_ended_and_its_node_is_elsewhere(health: Stack, nodes: Nodes) -> None:
    """The last test: from here on both nodes are on one machine."""
    node = on(nodes, "compute-0")
    # Longer than the time that a pod has to end: only the budget keeps it for as long.
    job = submitted(health.run(f"sbatch -o /dev/null --requeue --nodelist={node} --wrap 'sleep 60'"))
    health.wait_for_job(job, "RUNNING")
    try:
        drain = (
            "drain",
            "compute-0",
            "--pod-selector=slipway/node-set",
            "--ignore-daemonsets",
            "--delete-emptydir-data",
        )
        health.kubectl(*drain, seconds=300)
        assert health.wait_for_job(job)["Restarts"] == "0"
        until(lambda: machines(health).get(node) == "system-0", f"{node} to be elsewhere")
        until(lambda: health.ssh(f"srun --immediate=20 --nodelist={node} hostname").returncode == 0, f"{node} to serve")
    finally:
        health.kubectl("uncordon", "compute-0")
