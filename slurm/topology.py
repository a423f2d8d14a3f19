"""The network as topology.conf describes it: switches above switches, or blocks."""

from config import Settings
from slurm.nodes import Fields, names


def lines(settings: Settings) -> list[Fields]:
    """The lines of topology.conf; none where no topology is wanted."""
    topology = settings.slurm.topology
    if topology.plugin == "tree":
        leaves = [{"SwitchName": name, "Nodes": nodes} for name, nodes in _places(settings, "switch").items()]
        above = [
            {"SwitchName": name, "Switches": ",".join(switch.switches)} for name, switch in topology.switches.items()
        ]
        return leaves + above
    if topology.plugin == "block":
        blocks = _places(settings, "block")
        sizes = topology.block_sizes or [_smallest(settings)]
        return [
            *({"BlockName": name, "Nodes": nodes} for name, nodes in blocks.items()),
            {"BlockSizes": ",".join(map(str, sizes))},
        ]
    return []


def _places(settings: Settings, kind: str) -> dict[str, str]:
    """The nodes of each switch or block that NodeSets name, in the order of the stack file."""
    found: dict[str, list[str]] = {}
    for name, node_set in settings.all_node_sets.items():
        place = node_set.topology and getattr(node_set.topology, kind)
        if place and node_set.kind == "static" and node_set.size:
            found.setdefault(place, []).append(names(name, node_set.size))
    return {place: ",".join(nodes) for place, nodes in found.items()}


def _smallest(settings: Settings) -> int:
    sizes: dict[str, int] = {}
    for node_set in settings.all_node_sets.values():
        if node_set.topology and node_set.topology.block and node_set.kind == "static":
            sizes[node_set.topology.block] = sizes.get(node_set.topology.block, 0) + node_set.size
    return max(1, min(sizes.values(), default=1))
