"""The same machine with a worker on it: now a pod has it, now a job."""

from tests.cluster.bridge.conftest import MANAGED, NODE, TAINT, Bridged
from tests.cluster.changes import change
from tests.cluster.stacks import until

NAME = "slinky.slurm.net/slurm-nodename"


def test_an_external_node_goes_when_it_is_no_longer_lent(bridged: Bridged) -> None:
    until(lambda: bridged.slurm_node(NODE), f"Slurm to have {NODE}", 90)
    bridged.pool("hybrid")
    until(lambda: not bridged.slurm_node(NODE), f"Slurm to forget {NODE}", 90)
    until(lambda: TAINT not in bridged.taints(), f"{NODE} to take other pods again")


def test_a_worker_lends_its_machine(bridged: Bridged) -> None:
    change(bridged.stack, "worker", size=1)
    bridged.stack.up("--skip-preview")
    labels = until(lambda: bridged.get("node", NODE)["metadata"]["labels"].get(NAME), f"{NODE} to be lent", 90)
    assert labels == "worker-0"
    until(lambda: TAINT in bridged.taints(), f"{NODE} to keep other pods out")
    assert bridged.stack.run("srun hostname") == "worker-0"


def test_pods_and_jobs_take_turns_on_it(bridged: Bridged) -> None:
    stack = bridged.stack
    bridged.create("turn", "sleep 8")
    number = bridged.job_of("turn")
    there = bridged.wait_for_phase("turn", "Running")
    assert there["spec"]["nodeName"] == NODE
    assert bridged.wait_for_job(number, "RUNNING")["NodeList"] == "worker-0"
    job = stack.run("sbatch --parsable --output=/dev/null --wrap 'sleep 4'")
    assert stack.wait_for_job(job, "PENDING")["NodeList"] in ("", "(null)")
    bridged.create("next", "true")
    bridged.wait_for_phase("turn", "Succeeded")
    ended = bridged.wait_for_job(number, "CANCELLED", "COMPLETED")
    ran = stack.wait_for_job(job)
    assert ran["StartTime"] >= ended["EndTime"]
    after = bridged.job_of("next")
    bridged.wait_for_phase("next", "Succeeded")
    assert bridged.wait_for_job(after, "CANCELLED", "COMPLETED")["StartTime"] >= ran["EndTime"]
    bridged.kubectl("delete", "pod", "turn", "next", "-n", MANAGED, "--timeout=60s")


def test_pods_that_share_a_node_share_it_with_no_job(bridged: Bridged) -> None:
    """There would be room: each of them takes one CPU of two."""
    stack = bridged.stack
    bridged.create("sharing", "sleep 8", told={"exclusive": "false"})
    number = bridged.job_of("sharing")
    bridged.wait_for_phase("sharing", "Running")
    job = stack.run("sbatch --parsable --output=/dev/null --mem=16M --wrap 'sleep 1'")
    ended = bridged.wait_for_job(number, "CANCELLED", "COMPLETED")
    ran = stack.wait_for_job(job)
    assert ran["StartTime"] >= ended["EndTime"]
    bridged.kubectl("delete", "pod", "sharing", "-n", MANAGED, "--timeout=60s")
