"""Dynamic nodes as the plan sees them: they say what they have when they start, and no command makes them known."""

from collections.abc import Iterator

import pytest

from config import Settings
from config.node_sets import Gres, NodeSet
from slurm.changes import plan
from slurm.nodes import hardware
from slurm.render import line, render
from tests.cluster.daemon.slurmd import NODE, Slurmd


def cluster(**about: object) -> Settings:
    gres = {"fpga": Gres(count=2, file="/dev/fpga[0-1]")}
    worker = {"kind": "dynamic", "size": 1, "max_size": 4, "gres": gres} | about
    return Settings(worker=NodeSet.model_validate(worker, by_name=True))


def files(settings: Settings) -> dict[str, str]:
    return render(settings, cgroup_v2=False)


def begin(worker: Slurmd, settings: Settings) -> None:
    worker.start("-Z", "--conf", f"'{line(hardware('worker', settings.worker))}'")


@pytest.fixture
def idle(worker: Slurmd) -> Iterator[Slurmd]:
    worker.ask("touch /dev/fpga{0,1}")
    worker.controller.start(files(cluster()))
    begin(worker, cluster())
    yield worker
    worker.clear()
    worker.controller.stop()


def test_a_dynamic_node_is_in_the_partition_of_all_nodes(idle: Slurmd) -> None:
    assert f" Nodes={NODE} " in idle.controller.ask("scontrol -o show partition main")
    idle.controller.ask("scontrol reconfigure")
    idle.until("it still is", lambda: f" Nodes={NODE} " in idle.controller.ask("scontrol -o show partition main"))


def test_a_dynamic_node_offers_its_devices(idle: Slurmd) -> None:
    assert " Gres=fpga:2 " in idle.controller.ask(f"scontrol -o show node {NODE}")
    job = idle.queue("--gres=fpga:2")
    idle.until("a job gets them", lambda: idle.job(job)["JobState"] == "COMPLETED")


@pytest.mark.parametrize(
    ("about", "says"),
    [({"weight": 5}, " Weight=5 "), ({"cpus": 2, "sockets": 2}, " CPUTot=2 ")],
    ids=["weight", "cpus"],
)
def test_a_dynamic_node_says_something_else_only_when_it_starts_anew(
    idle: Slurmd, about: dict[str, object], says: str
) -> None:
    new = cluster(**about)
    found = plan(files(cluster()), files(new))
    assert "restart-workers" in [step.cls for step in found.steps]
    idle.controller.ask(idle.controller.put(files(new)) + "scontrol reconfigure")
    shown = f"scontrol -o show node {NODE}"
    assert says not in idle.controller.ask(shown)
    idle.stop()
    idle.controller.ask(f"scontrol delete NodeName={NODE}")  # as a worker's pod does when it ends
    begin(idle, new)
    assert says in idle.controller.ask(shown)
