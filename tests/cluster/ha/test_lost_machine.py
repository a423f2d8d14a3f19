"""One controller, and its machine is gone for good: as soon as Kubernetes is told so, it runs where room was held."""

import time

from tests.cluster.changes import written_down
from tests.cluster.dev.test_pods_come_and_go import replaced
from tests.cluster.ha.test_backup import Record
from tests.cluster.machines import without_power
from tests.cluster.stacks import Stack, until
from tests.cluster.variant.test_standby import STANDBY, controller_node, node_of

# What a platform, or a person, sets on a node that is known to be off: nothing of it writes to any volume.
OFF = "node.kubernetes.io/out-of-service"


def test_the_controller_starts_on_the_other_machine_and_no_job_is_lost(spare: Stack, record_property: Record) -> None:
    here = "system-0"
    if controller_node(spare) != here:  # the room that is held elsewhere came first
        spare.kubectl("cordon", "compute-0")
        replaced(spare, "controller-0")
        spare.kubectl("uncordon", "compute-0")
    assert controller_node(spare) == here
    until(lambda: node_of(spare, STANDBY) == "compute-0", "room to be held", 120)
    running = spare.run("sbatch --parsable -o /dev/null --wrap 'sleep 120'")
    waiting = spare.run(f"sbatch --parsable -o /dev/null --dependency=afterok:{running} --wrap true")
    spare.wait_for_job(running, "RUNNING")
    written_down(spare)
    try:
        with without_power(spare, here):
            began = time.monotonic()
            condition = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
            until(lambda: spare.kubectl("get", "node", here, "-o", condition) != "True", "it to be missed", 180)
            missed = time.monotonic()
            spare.kubectl("taint", "node", here, f"{OFF}=nodeshutdown:NoExecute", "--overwrite")
            until(lambda: spare.ssh("sinfo", seconds=60).returncode == 0, "slurmctld to answer", 180)
            answered = time.monotonic()
            record_property("seconds until Kubernetes missed it", round(missed - began, 1))
            record_property("seconds from then until slurmctld answered", round(answered - missed, 1))
            assert controller_node(spare) == "compute-0"
            assert spare.wait_for_job(running, seconds=240)["Restarts"] == "0"
            spare.wait_for_job(waiting)
    finally:
        spare.kubectl("taint", "node", here, f"{OFF}-")
