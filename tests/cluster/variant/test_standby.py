"""A placeholder holds room for the controller on another node, and gives it up when it is needed."""

import time

from tests.cluster.changes import pods
from tests.cluster.dev.test_pods_come_and_go import replaced
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until

STANDBY = "app.kubernetes.io/name=controller-standby"


def node_of(stack: Stack, selector: str) -> str | None:
    """Where the one pod that runs under these labels is."""
    found = [pod for pod in pods(stack, selector).values() if pod["status"]["phase"] == "Running"]
    return found[0]["spec"]["nodeName"] if len(found) == 1 else None


def controller_node(stack: Stack) -> str | None:
    return node_of(stack, "app.kubernetes.io/name=controller")


def test_it_runs_on_another_node_with_low_priority(variant: Stack) -> None:
    (standby,) = pods(variant, STANDBY).values()
    (controller,) = pods(variant, "app.kubernetes.io/name=controller").values()
    places = {standby["spec"]["nodeName"], controller["spec"]["nodeName"]}
    assert places == {"system-0", "compute-0"}
    assert standby["spec"]["priority"] < controller["spec"]["priority"]
    assert standby["spec"]["preemptionPolicy"] == "Never"
    images = [pod["spec"]["containers"][0]["image"] for pod in (standby, controller)]
    assert images[0] == images[1]


def test_the_controller_takes_its_place_when_its_own_node_is_closed(variant: Stack) -> None:
    here = controller_node(variant)
    there = node_of(variant, STANDBY)
    assert here
    assert there
    running = submitted(variant.run("sbatch -o /dev/null --wrap 'sleep 15'"))
    waiting = submitted(variant.run(f"sbatch -o /dev/null --dependency=afterok:{running} --wrap true"))
    variant.wait_for_job(running, "RUNNING")
    variant.kubectl("cordon", here)
    try:
        began = time.monotonic()
        replaced(variant, "controller-0")
        assert controller_node(variant) == there
        until(lambda: variant.ssh("scontrol ping").returncode == 0, "slurmctld to answer")
        # Seconds where the machine is idle; a pod that Kubernetes does not look at again waits for five minutes.
        assert time.monotonic() - began < 120
    finally:
        variant.kubectl("uncordon", here)
    assert variant.wait_for_job(running)["Restarts"] == "0"
    variant.wait_for_job(waiting)
    until(lambda: node_of(variant, STANDBY) == here, "the standby to be where the controller was")
