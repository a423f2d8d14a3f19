"""The network as topology.conf describes it, switches above switches or blocks, and where in it a node is.

Nodes of static NodeSets stand in the file. Dynamic ones say where they are when they start, with `Topology=` in the
`--conf` of their slurmd: Slurm keeps that over reconfigures and restarts. What a static node says that way, or scontrol
says for it, is gone at the next reconfigure."""

from config import Settings
from config.node_sets import NodeSet
from slurm.nodes import TOPOLOGY, Fields, names


def lines(settings: Settings) -> list[Fields]:
    """The lines of topology.conf; none where no topology is wanted."""
    topology = settings.slurm.topology
    if topology.plugin == "tree":
        leaves = [_named("SwitchName", name, "Nodes", nodes) for name, nodes in _places(settings, "switch").items()]
        above = [_named("SwitchName", name, "Switches", each.switches) for name, each in topology.switches.items()]
        return leaves + above
    if topology.plugin == "block":
        blocks = {name: [] for name in topology.blocks} | _places(settings, "block")
        sizes = topology.block_sizes or [_smallest(settings)]
        return [
            *(_named("BlockName", name, "Nodes", nodes) for name, nodes in blocks.items()),
            {"BlockSizes": ",".join(map(str, sizes))},
        ]
    return []


def before_label(node_set: NodeSet) -> str:
    """What stands before a node label's value in the `Topology=` of a node: `default:spine:`. Slurm makes the switch
    of that name if there is none yet."""
    below = node_set.topology and node_set.topology.below
    return f"{TOPOLOGY}:{below}:" if below else f"{TOPOLOGY}:"


def of_node(settings: Settings, node_set: NodeSet, label: str | None) -> str:
    """The `Topology=` of a dynamic node on a Kubernetes node whose label has this value. ValueError where Slurm would
    not take it, with what to do."""
    key = node_set.topology and node_set.topology.node_label
    if not label:
        raise ValueError(f"the Kubernetes node has no label {key}: set it to the name of its switch or block")
    topology = settings.slurm.topology
    if topology.plugin == "block" and label not in topology.blocks:
        raise ValueError(
            f"{key}={label}: no such block in slurm.topology.blocks ({', '.join(topology.blocks)}); add it"
        )
    return before_label(node_set) + label


def _named(key: str, name: str, members: str, inside: list[str]) -> Fields:
    """A switch or block; one without members is waiting for nodes to come."""
    return {key: name} | ({members: ",".join(inside)} if inside else {})


def _places(settings: Settings, kind: str) -> dict[str, list[str]]:
    """Each switch or block that NodeSets name, with its static nodes, in the order of the stack file."""
    found: dict[str, list[str]] = {}
    for name, node_set in settings.all_node_sets.items():
        place = node_set.topology and getattr(node_set.topology, kind)
        if place:
            nodes = found.setdefault(place, [])
            nodes += [names(name, node_set.size)] if node_set.kind == "static" and node_set.size else []
    return found


def _smallest(settings: Settings) -> int:
    sizes: dict[str, int] = {}
    for node_set in settings.all_node_sets.values():
        if node_set.topology and node_set.topology.block:
            sizes[node_set.topology.block] = sizes.get(node_set.topology.block, 0) + node_set.size
    return max(1, min(sizes.values(), default=1))
