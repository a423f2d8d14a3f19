"""A node that a label places: a real slurmctld takes the `Topology=` that we make of it, and remembers it."""

from collections.abc import Iterator

import pytest

from config import Settings
from config.node_sets import NodeSet, Place
from config.slurm import Slurm, SwitchAbove, Topology
from slurm import topology
from slurm.nodes import hardware
from slurm.render import render
from tests.cluster.daemon.slurmctld import Slurmctld
from tests.cluster.daemon.slurmd import NODE, Slurmd


def cluster(network: Topology, fixed: Place, **place: str) -> Settings:
    """worker-0 is dynamic and where a label says; the nodes of another NodeSet are in a fixed place."""
    worker = NodeSet(kind="dynamic", max_size=4, topology=Place(node_label="example.com/place", **place))
    return Settings(worker=worker, node_sets={"fix": NodeSet(size=2, topology=fixed)}, slurm=Slurm(topology=network))


TREE = cluster(
    Topology(plugin="tree", switches={"spine": SwitchAbove(switches=["rack1"])}), Place(switch="rack1"), below="spine"
)
BLOCKS = cluster(Topology(plugin="block", blocks=["block1", "block2"], block_sizes=[2]), Place(block="block1"))


@pytest.fixture
def idle(worker: Slurmd) -> Iterator[Slurmd]:
    yield worker
    worker.clear()
    worker.controller.stop()


def placed(controller: Slurmctld) -> str:
    """Who is where, by what slurmctld shows."""
    return controller.ask("scontrol show topology | grep -oE '(Switch|Block)Name=\\S+|Nodes=\\S*' | paste -sd ' '")


@pytest.mark.parametrize(
    ("settings", "label", "where"),
    [
        (TREE, "rack1", f"SwitchName=rack1 Nodes=fix-[0-1],{NODE} "),  # a switch that is there already
        (TREE, "rack7", f"SwitchName=rack7 Nodes={NODE}"),  # and one that nobody has named before
        (BLOCKS, "block2", f"BlockName=block2 Nodes={NODE}"),
    ],
    ids=["known-switch", "new-switch", "block"],
)
def test_a_dynamic_node_keeps_its_place_over_reconfigure_and_restart(
    idle: Slurmd, settings: Settings, label: str, where: str
) -> None:
    files = render(settings, cgroup_v2=False)
    idle.controller.start(files)
    fields = hardware("worker", settings.worker) | {"Topology": topology.of_node(settings, settings.worker, label)}
    idle.start("-Z", "--conf", f"'{' '.join(f'{key}={value}' for key, value in fields.items())}'")
    assert where in placed(idle.controller)
    idle.controller.ask("scontrol reconfigure")
    assert where in placed(idle.controller)
    idle.controller.stop()
    idle.controller.start(files, clear=False)
    assert where in placed(idle.controller)


def test_a_static_node_really_would_forget_its_place(idle: Slurmd) -> None:
    """The reason why node labels need a dynamic NodeSet."""
    controller = idle.controller
    controller.start(render(TREE, cgroup_v2=False))
    moved = topology.of_node(TREE, TREE.worker, "rack7")
    controller.ask(f"scontrol update NodeName=fix-0 Topology={moved}")
    assert "SwitchName=rack7 Nodes=fix-0" in placed(controller)
    controller.ask("scontrol reconfigure")
    assert "rack7" not in placed(controller)
