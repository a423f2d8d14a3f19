"""Steps for partitions and NodeSets."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from slurm.hostlist import Hosts
from slurm.keys import Entry, find, without
from slurm.keys.entry import drain_first, reconfigure
from slurm.keys.nodes import NODE_SET
from slurm.keys.partitions import PARTITION
from slurm.keys.values import flag
from slurm.planning.cluster import ALL, Cluster, concerned
from slurm.planning.live import create_partition, delete_partition, unable_to_create, update_partition
from slurm.planning.step import Concerned, Step, make_step, written, written_change
from slurm.ranges import parse

REMOVED = drain_first("Jobs of a partition that goes are killed and not requeued, so its jobs have to end first.")
_UNKNOWN_NODES = "It lists nodes or NodeSets that come, go or change, and those a reconfigure brings."
_TOPOLOGY = ("topology.conf", "topology.yaml")
_NO_HOSTS = Hosts()


def nodeset_steps(old: Cluster, new: Cluster) -> Iterator[Step]:
    for name in dict.fromkeys([*old.conf.nodesets, *new.conf.nodesets]):
        before, after = old.conf.nodesets.get(name), new.conf.nodesets.get(name)
        nodes = old.nodesets.get(name, Hosts()) | new.nodesets.get(name, Hosts())
        whom = concerned(old, new, nodes)._replace(nodesets=(name,))
        if before is None or after is None:
            change = written_change(before, after)
            yield make_step(NODE_SET["NodeSet"], f"nodeset {name}", "NodeSet", change, concerned=whom)
            for field, value in (after or {}).items():
                if (unknown := find(NODE_SET, field, "a NodeSet line")).cls == "refused":
                    yield make_step(unknown, f"nodeset {name}", field, (None, value), concerned=whom)
            continue
        for field in dict.fromkeys([*before, *after]):
            entry = find(NODE_SET, field, "a NodeSet line")
            change = before.get(field), after.get(field)
            if entry.cls == "refused" and change[1] is None:
                entry = without(field)
            if not entry.same(*change):
                yield make_step(entry, f"nodeset {name}", field, change, concerned=whom)


def partition_steps(old: Cluster, new: Cluster) -> Iterator[Step]:
    """Partitions are made before others may refer to them, and fields are emptied before others are filled: some of
    them are two names for one value, such as DefMemPerCPU and DefMemPerNode."""
    ours, theirs = old.conf.partitions, new.conf.partitions
    members = _Members(old, new)
    created: set[str] = set()
    for name in theirs:
        if name not in ours:
            for step in _created(new, name, members):
                created |= {name} if step.cls == "live" else set()
                yield step
    for name in ours:
        if name not in theirs:
            change = written(ours[name]), None
            commands = delete_partition(name)
            whom = members.concerned(name)
            yield make_step(REMOVED, f"partition {name}", "PartitionName", change, commands, whom)
    changed = [step for name in theirs if name in ours for step in _changed(members, name, created)]
    yield from sorted(changed, key=_turn)


def _turn(step: Step) -> int:
    """The new default partition is named before the old one is no longer it, so that there always is one."""
    if step.key == "Default":
        return 2 if flag(step.new or "NO") is True else 3
    return 0 if step.new is None else 1


class _Members:
    """What the Nodes= of partitions mean for a change. Many have the same nodes, which are looked up once."""

    def __init__(self, old: Cluster, new: Cluster) -> None:
        self.old, self.new = old, new
        self.known = cache(partial(_known, old, new))
        self._concerned: dict[tuple[int, int], Concerned] = {}

    def concerned(self, name: str) -> Concerned:
        sides = self.old.partitions.get(name, _NO_HOSTS), self.new.partitions.get(name, _NO_HOSTS)
        key = id(sides[0]), id(sides[1])  # equal Nodes= are one object
        if key not in self._concerned:
            hosts = Hosts.union(sides)
            sets = self.old.nodesets_of(hosts) | self.new.nodesets_of(hosts)
            self._concerned[key] = Concerned(str(hosts), tuple(sorted(sets)))
        return self._concerned[key]._replace(partitions=(name,))


def _created(new: Cluster, name: str, members: _Members) -> Iterator[Step]:
    fields = new.conf.partitions[name]
    whom = members.concerned(name)
    entry = PARTITION["PartitionName"]
    if unable := unable_to_create(fields):
        entry = reconfigure(f"scontrol cannot make a partition with {', '.join(unable)}; a reconfigure does.")
    elif not members.known(fields.get("Nodes", "")):
        entry = reconfigure(_UNKNOWN_NODES)
    commands = (create_partition(name, fields),) if entry.cls == "live" else ()
    yield make_step(entry, f"partition {name}", "PartitionName", (None, written(fields)), commands, whom)
    for field in fields:
        if (unknown := find(PARTITION, field, "a PartitionName line")).cls == "refused":
            yield make_step(unknown, f"partition {name}", field, (None, fields[field]), concerned=whom)


def _changed(members: _Members, name: str, created: set[str]) -> Iterator[Step]:
    before, after = members.old.conf.partitions[name], members.new.conf.partitions[name]
    for field in dict.fromkeys([*before, *after]):
        values = before.get(field), after.get(field)
        if find(PARTITION, field, "").same(*values):
            continue
        entry = _entry(members, field, *values, created)
        commands: tuple[str, ...] = ()
        if entry.cls == "live":
            value = entry.cleared if values[1] is None else values[1]
            commands = (update_partition(name, field, value or "", after),)
        yield make_step(entry, f"partition {name}", field, values, commands, members.concerned(name))


def _entry(members: _Members, field: str, before: str | None, after: str | None, created: set[str]) -> Entry:
    """The table's entry, where this cluster or this value does not ask for more."""
    old, new = members.old, members.new
    entry = find(PARTITION, field, "a PartitionName line")
    if entry.cls == "refused" and after is None:
        return without(field)
    if entry.cls != "live":
        return entry
    why = ""
    if after is None and entry.cleared is None:
        why = f"scontrol cannot take {field} back to its default; a reconfigure does."
    elif field == "Nodes" and not (members.known(before or "") and members.known(after or "")):
        why = _UNKNOWN_NODES
    elif field == "Alternate" and after and after not in old.conf.partitions and after not in created:
        why = "The partition that it refers to comes with a reconfigure."
    elif field == "Topology" and any(old.files.get(name) != new.files.get(name) for name in _TOPOLOGY):
        why = "The topology itself changes, and that takes a reconfigure."
    return replace(entry, cls="reconfigure", reason=why) if why else entry


def _known(old: Cluster, new: Cluster, nodes: str) -> bool:
    """Whether slurmctld knows all of these nodes and NodeSets already, as they will be."""
    if nodes.upper() == ALL:
        return True
    rest = []
    for each in parse(nodes):
        name = each.name(each.low) if each.size == 1 else ""
        if name in old.conf.nodesets or name in new.conf.nodesets:
            if old.conf.nodesets.get(name) != new.conf.nodesets.get(name):
                return False
        else:
            rest.append(each)
    hosts = Hosts.of(rest)
    return not (hosts - old.static_hosts) and not (hosts - new.static_hosts)
