"""A network that Slurm can build: leaves that exist, one way up, blocks of a size."""

from collections.abc import Iterator

from config.checks.finding import Finding, circle_of
from config.paths import spelled
from config.settings import Settings

PLUGIN = ("slurm", "topology", "plugin")
SWITCHES = ("slurm", "topology", "switches")
WANTS = {"switch": ("tree",), "block": ("block",), "nodeLabel": ("tree", "block")}


def places_fit_the_plugin(settings: Settings) -> Iterator[Finding]:
    """slurmctld leaves nodes without a place to no job that spans nodes."""
    plugin = settings.slurm.topology.plugin
    for name, each in settings.all_node_sets.items():
        path = (*settings.path_of(name), "topology")
        if each.topology is None:
            if plugin != "none" and each.capacity:
                message = f"is missing: with slurm.topology.plugin: {plugin} each NodeSet must say where it is"
                yield Finding(path, message, (PLUGIN,))
            continue
        stated = {"switch": each.topology.switch, "block": each.topology.block, "nodeLabel": each.topology.node_label}
        for key in (key for key, value in stated.items() if value is not None):
            if plugin not in WANTS[key]:
                message = f"needs slurm.topology.plugin: {' or '.join(WANTS[key])}, which is {plugin}"
                yield Finding((*path, key), message, (PLUGIN,))
    topology = settings.slurm.topology
    if topology.switches and plugin != "tree":
        yield Finding(SWITCHES, f"has a meaning only with plugin: tree, which is {plugin}", (PLUGIN,))
    for key, value in (("blockSizes", topology.block_sizes), ("blocks", topology.blocks)):
        if value and plugin != "block":
            message = f"has a meaning only with plugin: block, which is {plugin}"
            yield Finding(("slurm", "topology", key), message, (PLUGIN,))


def labels_name_places(settings: Settings) -> Iterator[Finding]:
    """Where a pod lands is known only when it runs. Its slurmd then says where it is, and that has to fit."""
    topology = settings.slurm.topology
    for name, each in settings.all_node_sets.items():
        if each.topology is None or each.topology.node_label is None:
            continue
        path = (*settings.path_of(name), "topology")
        if each.kind == "static":
            message = "needs kind: dynamic; Slurm forgets at every reconfigure what a static node said of its place"
            yield Finding((*path, "nodeLabel"), message, ((*settings.path_of(name), "kind"),))
        below = each.topology.below
        if topology.plugin == "tree" and below not in topology.switches:
            wanted = f"no switch is named `{below}`" if below else "is missing"
            message = f"{wanted}; name the switch of slurm.topology.switches that the label's switches hang on"
            yield Finding((*path, "below"), message, (SWITCHES,))
        if topology.plugin == "block":
            if below:
                yield Finding((*path, "below"), "has a meaning only with slurm.topology.plugin: tree", (PLUGIN,))
            for key, value in (("blocks", topology.blocks), ("blockSizes", topology.block_sizes)):
                if not value:
                    message = f"is missing: the blocks of {spelled(path)} are known only when its pods run"
                    yield Finding(("slurm", "topology", key), message, ((*path, "nodeLabel"),))


def switches_are_a_tree(settings: Settings) -> Iterator[Finding]:
    """Each switch hangs below one other at most, and none below itself."""
    above = settings.slurm.topology.switches
    placed = [each.topology for each in settings.all_node_sets.values() if each.topology]
    leaves = {place.switch for place in placed if place.switch}
    open_ended = {place.below for place in placed}  # the nodes themselves tell what hangs there
    parents: dict[str, str] = {}
    for name, each in above.items():
        if name in leaves:
            message = f"`{name}` is the switch of a NodeSet, which has only nodes below it; name this one differently"
            yield Finding((*SWITCHES, name), message, (SWITCHES,))
        if not each.switches and name not in open_ended:
            yield Finding((*SWITCHES, name, "switches"), "is missing: name the switches below it, or take it out")
        for index, below in enumerate(each.switches):
            path = (*SWITCHES, name, "switches", index)
            if below not in above and below not in leaves:
                message = f"no switch is named `{below}`; declare it, or name it in the topology.switch of a NodeSet"
                yield Finding(path, message, (SWITCHES,))
            elif parents.setdefault(below, name) != name:
                yield Finding(path, f"`{below}` hangs below `{parents[below]}` already; a switch has one above it")
    told: set[str] = set()
    for name in above:
        circle = circle_of(name, parents)
        if circle and name not in told:
            yield Finding(
                (*SWITCHES, name), f"hangs below itself ({' below '.join([*circle, name])}); break the circle"
            )
        told.update(circle)


def blocks_are_large_enough(settings: Settings) -> Iterator[Finding]:
    """slurmctld refuses block sizes that do not double, and blocks with fewer nodes than the smallest size."""
    sizes = settings.slurm.topology.block_sizes
    path = ("slurm", "topology", "blockSizes")
    if not sizes or settings.slurm.topology.plugin != "block":
        return
    for index, size in enumerate(sizes[1:], start=1):
        times, rest = divmod(size, sizes[index - 1])
        if rest or times < 2 or times & (times - 1):
            message = f"{size} is not {sizes[index - 1]} times 2, 4, 8 or another power of two"
            yield Finding((*path, index), message)
    nodes: dict[str, int] = {}
    for each in settings.all_node_sets.values():
        if each.topology and each.topology.block:
            nodes[each.topology.block] = nodes.get(each.topology.block, 0) + each.capacity
    for block, count in nodes.items():
        if count < sizes[0]:
            yield Finding((*path, 0), f"{sizes[0]} is more than block `{block}` has nodes ({count}); lower it")
