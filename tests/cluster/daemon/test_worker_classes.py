"""What the table of change classes says is what a live slurmd does: one key for each class that needs a node."""

from collections.abc import Iterator

import pytest

from config import Settings
from config.node_sets import Gres, NodeSet
from slurm.changes import plan
from slurm.render import render
from tests.cluster.daemon.slurmctld import Slurmctld
from tests.cluster.daemon.slurmd import NODE, Slurmd


def files(cpus: int = 4, port: int = 6818, fpgas: int = 4) -> dict[str, str]:
    """One worker with so many CPUs and devices, at that port."""
    gres = {"fpga": Gres(count=fpgas, file=f"/dev/fpga[0-{fpgas - 1}]"), "token": Gres(count=fpgas)}
    made = render(Settings(worker=NodeSet(size=1, cpus=cpus, gres=gres)), cgroup_v2=False)
    assert "SlurmdPort=6818\n" in made["slurm.conf"]
    made["slurm.conf"] = made["slurm.conf"].replace("SlurmdPort=6818\n", f"SlurmdPort={port}\n")
    return made


@pytest.fixture
def busy(worker: Slurmd) -> Iterator[Slurmd]:
    """A worker that is up."""
    worker.ask("touch /dev/fpga{0,1,2,3}")
    worker.controller.start(files())
    worker.start()
    yield worker
    worker.clear()
    worker.controller.stop()


def reconfigure(controller: Slurmctld, new: dict[str, str]) -> None:
    controller.ask(controller.put(new))
    controller.ask("scontrol reconfigure")


def test_another_port_takes_a_restart_of_the_worker_and_running_jobs_live_on(busy: Slurmd) -> None:
    changed = files(port=6918)
    assert [step.cls for step in plan(files(), changed).steps] == ["restart-workers"]
    job = busy.submit()
    reconfigure(busy.controller, changed)
    # slurmctld looks for it at the new port by now, and cannot tell it; so it is told here.
    busy.signal("HUP")
    busy.until("slurmd has read its files anew", lambda: busy.ask("cat /tmp/slurmd.log").count("version 26.05") == 2)
    assert busy.controller.listening() == {6817, 6818}
    busy.stop()
    busy.start()
    assert busy.controller.listening() == {6817, 6918}
    assert (busy.job(job)["JobState"], busy.job(job)["Restarts"]) == ("RUNNING", "0")
    after = busy.queue()
    busy.until("a job runs at the new port", lambda: busy.job(after)["JobState"] == "COMPLETED")


CHANGES = {
    "more CPUs": (files(cpus=8), ""),
    "fewer devices": (files(fpgas=2), "--gres=fpga:1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_node_of_another_shape_really_would_cost_its_jobs(busy: Slurmd, change: str) -> None:
    changed, options = CHANGES[change]
    assert plan(files(), changed).cls == "drain-first"
    job = busy.submit(options)
    reconfigure(busy.controller, changed)
    busy.until("the job is requeued", lambda: busy.job(job)["Restarts"] == "1")


@pytest.mark.parametrize("change", CHANGES)
def test_a_drained_node_gets_another_shape_and_nothing_is_lost(busy: Slurmd, change: str) -> None:
    changed, options = CHANGES[change]
    running = busy.submit(options)
    [command] = {each for step in plan(files(), changed).steps for each in step.commands if "DRAIN" in each}
    busy.controller.ask(command)
    waiting = busy.queue(options)
    busy.let_jobs_end()
    busy.until(f"{NODE} is empty", lambda: busy.state() == "drained")
    reconfigure(busy.controller, changed)
    assert (busy.job(running)["JobState"], busy.job(running)["Restarts"]) == ("COMPLETED", "0")
    assert (busy.job(waiting)["JobState"], busy.job(waiting)["Restarts"]) == ("PENDING", "0")
    busy.controller.ask(f"scontrol update NodeName={NODE} State=RESUME")
    busy.until("the job that waited runs", lambda: busy.job(waiting)["JobState"] == "COMPLETED")


def test_a_resource_that_is_only_counted_can_be_taken_below_what_a_job_holds(busy: Slurmd) -> None:
    """Slurm says nothing and both go on; that is why a mere count is drained first as well."""
    job = busy.submit("--gres=token:3")
    reconfigure(busy.controller, files(fpgas=2))
    shown = f"scontrol show node {NODE}"
    busy.until(f"{NODE} offers two", lambda: "Gres=fpga:2,token:2" in busy.controller.ask(shown))
    assert busy.job(job)["JobState"] == "RUNNING"
