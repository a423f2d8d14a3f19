"""A NodeSet that Slurm starts and stops by itself: pods come for jobs, and go when they are idle. No job is lost."""

from tests.cluster.changes import change_set
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until

THERE = "--partition=elastic --output=/dev/null"


def pods(stack: Stack) -> list[str]:
    shown = stack.kubectl("get", "pods", "-l", "slipway/node-set=elastic", "-o", "name")
    return sorted(line.removeprefix("pod/") for line in shown.split())


def state(stack: Stack, node: str) -> str:
    return stack.run(f"scontrol show node {node} | grep -o 'State=[^ ]*'").removeprefix("State=")


def stopped(stack: Stack, *nodes: str) -> None:
    until(lambda: all("POWERED_DOWN" in state(stack, node) for node in nodes), f"{nodes} to be stopped", 180)


def test_what_could_run_is_seen_though_nothing_does(variant: Stack) -> None:
    stopped(variant, "elastic-0", "elastic-1", "elastic-2")
    until(lambda: not pods(variant), "no pod to be left")
    assert variant.run("sinfo --noheader --partition=elastic --format='%D %t'") == "3 idle~"


def test_jobs_bring_the_nodes_that_they_need(variant: Stack) -> None:
    assert variant.run("srun --partition=elastic --nodes=2 hostname | sort").split() == ["elastic-0", "elastic-1"]
    assert pods(variant) == ["elastic-0", "elastic-1"]
    variant.up("--expect-no-changes")


def test_idle_nodes_stop_and_nodes_with_jobs_do_not(variant: Stack) -> None:
    """elastic-0 stops before elastic-1, whose pod could not go without it. So its pod stays, and starts again."""
    running = submitted(
        variant.run(f"sbatch {THERE} --nodelist=elastic-1 --wrap 'until test -e ~/enough; do sleep 1; done'")
    )
    variant.wait_for_job(running, "RUNNING")
    stopped(variant, "elastic-0")
    assert pods(variant) == ["elastic-0", "elastic-1"]
    assert variant.run("srun --partition=elastic --nodelist=elastic-0 hostname") == "elastic-0"
    variant.admin("scontrol", "reconfigure")
    variant.run("touch ~/enough")
    assert variant.wait_for_job(running)["Restarts"] == "0"
    stopped(variant, "elastic-0", "elastic-1")
    until(lambda: not pods(variant), "all pods to be gone")
    assert "Reason=" not in variant.run("scontrol show nodes elastic-[0-2]")


def test_an_update_leaves_the_number_of_pods_to_slurm(variant: Stack) -> None:
    job = submitted(variant.run(f"sbatch {THERE} --nodes=2 --wrap 'sleep 30'"))
    variant.wait_for_job(job, "RUNNING")
    change_set(variant, "elastic", size=4)
    variant.up()
    assert pods(variant) == ["elastic-0", "elastic-1"]
    assert "idle~" in variant.run("sinfo --noheader --nodes=elastic-3 --format=%t")
    assert variant.wait_for_job(job)["Restarts"] == "0"
    change_set(variant, "elastic", size=1)
    variant.up()
    until(lambda: pods(variant) in ([], ["elastic-0"]), "the pods of nodes that Slurm knows no more to go")
    variant.up("--expect-no-changes")
