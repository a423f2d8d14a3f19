"""The machine of the controller loses its power: the second one takes over, and gives back, and no job notices."""

import time
from collections.abc import Callable

from tests.cluster.changes import change, pods, written_down
from tests.cluster.machines import without_power
from tests.cluster.stacks import Stack, until

CONTROLLERS = "app.kubernetes.io/name=controller"
Record = Callable[[str, object], None]
FIRST, SECOND = "system-0", "compute-0"


def ping(stack: Stack) -> dict[str, bool]:
    """Which controllers are up, by the names of their pods."""
    shown = stack.ssh("scontrol ping").stdout
    return {line.split(" at ")[1].split()[0]: line.endswith("is UP") for line in shown.splitlines() if " at " in line}


def test_each_controller_has_a_machine_of_its_own(ha: Stack) -> None:
    places = {name: pod["spec"]["nodeName"] for name, pod in pods(ha, CONTROLLERS).items()}
    assert places == {"controller-0": FIRST, "controller-1": SECOND}
    until(lambda: ping(ha) == {"controller-0": True, "controller-1": True}, "both to be up")


def test_a_change_reaches_both(ha: Stack) -> None:
    change(ha, "partitions", main={"nodeSets": ["worker"], "default": True, "maxTime": "5h"})
    ha.up("--skip-preview")
    assert "MaxTime=05:00:00" in ha.run("scontrol show partition main")
    for name in pods(ha, CONTROLLERS):
        assert "MaxTime=05:00:00" in ha.kubectl("exec", name, "-c", "slurmctld", "--", "cat", "/etc/slurm/slurm.conf")


def test_the_second_takes_over_and_no_job_is_lost(ha: Stack, record_property: Record) -> None:
    running = ha.run("sbatch --parsable -o /dev/null --wrap 'sleep 100'")
    waiting = ha.run(f"sbatch --parsable -o /dev/null --dependency=afterok:{running} --wrap true")
    ha.wait_for_job(running, "RUNNING")
    written_down(ha)
    with without_power(ha, FIRST):
        began = time.monotonic()
        until(lambda: ha.ssh("sinfo", seconds=60).returncode == 0, "the second to answer", 180)
        record_property("seconds until the second answered", round(time.monotonic() - began, 1))
        assert ha.run(f"squeue --noheader --jobs={running},{waiting} --format=%T").split() == ["PENDING", "RUNNING"]
        until(lambda: ha.ssh("srun true", seconds=60).returncode == 0, "a new job to run", 120)
        # An update goes on without the first machine, too.
        change(ha, "partitions", main={"nodeSets": ["worker"], "default": True, "maxTime": "6h"})
        ha.up("--skip-preview")
        assert "MaxTime=06:00:00" in ha.run("scontrol show partition main")
        assert ha.wait_for_job(running)["Restarts"] == "0"
        ha.wait_for_job(waiting)
    until(lambda: ping(ha) == {"controller-0": True, "controller-1": True}, "the first to be back", 300)
    assert "MaxTime=06:00:00" in ha.run("scontrol show partition main")
    ha.run("srun true")
