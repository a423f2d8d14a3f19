"""Steps for nodes: those that come, those that go, and fields of those that stay."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from slurm.hostlist import Hosts, Key
from slurm.keys import Entry, find, without
from slurm.keys.entry import drain_first, reconfigure
from slurm.keys.nodes import NODE
from slurm.planning.cluster import Cluster, concerned
from slurm.planning.live import drain, update_nodes
from slurm.planning.records import POSITIONAL, Piece, Segment, node_name, node_names, sweep
from slurm.planning.step import Step, make_step, written

ADDED = reconfigure(
    "A reconfigure makes the nodes known; their pods start before it, so that their names resolve by then."
)
REMOVED = drain_first("A job on a node that leaves is requeued or lost, so no job may be left on it.")
_DOWN = drain_first("Jobs on a node that the file calls DOWN are killed when slurmctld reads it.")
_CLOUD = drain_first("slurmctld takes such a node for one that is stopped, or never stops it again: with no job on it.")
_TOPOLOGY = ("topology.conf", "topology.yaml")

Spans = dict[Key, list[tuple[int, int]]]
K = TypeVar("K")


def node_steps(old: Cluster, new: Cluster) -> Iterator[Step]:
    added: dict[str, Spans] = {}
    removed: dict[str, Spans] = {}
    changed: dict[tuple[str, str | None, str | None], Spans] = {}
    listed: dict[tuple[str, str, str], list[Segment]] = {}
    differences: dict[tuple[str, str], list[str]] = {}
    for segment in sweep(old.pieces, new.pieces):
        before, after = _only(segment, segment.old), _only(segment, segment.new)
        if before is None or after is None:
            _add(added if before is None else removed, after or before or "", segment)
            continue
        if (before, after) not in differences:
            differences[before, after] = _differing(old, new, before, after)
        for field in differences[before, after]:
            values = old.conf.nodes[before].get(field), new.conf.nodes[after].get(field)
            _add(changed, (field, *values), segment)
        for field in _differing_lists(segment):
            listed.setdefault((field, before, after), []).append(segment)
    yield from _coming(old, new, added)
    yield from _going(old, new, removed)
    for (field, before, after), spans in changed.items():
        yield _changed(old, new, field, before, after, Hosts(spans))
    for (field, _, _), segments in listed.items():
        yield _changed_list(old, new, field, segments)


def _only(segment: Segment, side: tuple[Piece, ...]) -> str | None:
    """The line that a node is in; Slurm does not start if there are two."""
    if len(side) > 1:
        name = node_name(segment.key, segment.low)
        raise ValueError(
            f"slurm.conf: node {name} is in two lines, NodeName={side[0].line} and NodeName={side[1].line}"
        )
    return side[0].line if side else None


def _add(found: dict[K, Spans], what: K, segment: Segment) -> None:
    found.setdefault(what, {}).setdefault(segment.key, []).append((segment.low, segment.high))


def _differing(old: Cluster, new: Cluster, before: str, after: str) -> list[str]:
    """Fields with one value for the whole line that Slurm would take for another."""
    ours, theirs = old.conf.nodes[before], new.conf.nodes[after]
    return [
        field
        for field in dict.fromkeys([*ours, *theirs])
        if field not in POSITIONAL and not find(NODE, field, "").same(ours.get(field), theirs.get(field))
    ]


def _differing_lists(segment: Segment) -> Iterator[str]:
    before, after = segment.old[0], segment.new[0]
    for field in POSITIONAL:
        if any(before.value(field, at) != after.value(field, at) for at in (segment.low, segment.high)):
            yield field


def _coming(old: Cluster, new: Cluster, added: dict[str, Spans]) -> Iterator[Step]:
    for line, spans in added.items():
        hosts, fields = Hosts(spans), new.conf.nodes[line]
        whom = concerned(old, new, hosts)
        yield make_step(ADDED, f"node {hosts}", "NodeName", (None, written(fields)), concerned=whom)
        for field in fields:
            if (entry := find(NODE, field, "a NodeName line")).cls == "refused":
                yield make_step(entry, f"node {hosts}", field, (None, fields[field]), concerned=whom)


def _going(old: Cluster, new: Cluster, removed: dict[str, Spans]) -> Iterator[Step]:
    for line, spans in removed.items():
        hosts = Hosts(spans)
        change = written(old.conf.nodes[line]), None
        commands = (drain(str(hosts)),)
        yield make_step(REMOVED, f"node {hosts}", "NodeName", change, commands, concerned(old, new, hosts))


def _changed(old: Cluster, new: Cluster, field: str, before: str | None, after: str | None, hosts: Hosts) -> Step:
    entry = _entry(old, new, field, before, after)
    commands: tuple[str, ...] = ()
    if entry.cls == "live":
        value = entry.cleared if after is None else after
        commands = (update_nodes(str(hosts), field, value or ""),)
    elif entry.cls == "drain-first":
        commands = (drain(str(hosts)),)
    return make_step(entry, f"node {hosts}", field, (before, after), commands, concerned(old, new, hosts))


def _entry(old: Cluster, new: Cluster, field: str, before: str | None, after: str | None) -> Entry:
    """The table's entry, where this cluster or this value does not ask for more."""
    entry = find(NODE, field, "a NodeName line")
    if entry.cls == "refused" and after is None:
        return without(field)
    if field == "State" and (after or "").upper().startswith("DOWN"):
        return _DOWN
    if field == "State" and "CLOUD" in ((before or "").upper(), (after or "").upper()):
        return _CLOUD
    if field == "Features" and _sets_by_feature(old, new, before, after):
        why = "NodeSets that go by a feature look for their nodes only at a reconfigure."
        return replace(entry, cls="reconfigure", reason=why)
    if field == "Topology" and any(old.files.get(name) != new.files.get(name) for name in _TOPOLOGY):
        return replace(entry, cls="reconfigure", reason="The topology itself changes, and that takes a reconfigure.")
    if entry.cls == "live" and after is None and entry.cleared is None:
        why = f"scontrol cannot take {field} back to what the other files say; a reconfigure does."
        return replace(entry, cls="reconfigure", reason=why)
    return entry


def _sets_by_feature(old: Cluster, new: Cluster, before: str | None, after: str | None) -> bool:
    moved = set((before or "").split(",")) ^ set((after or "").split(","))
    return not moved.isdisjoint(old.set_features) or not moved.isdisjoint(new.set_features)


def _changed_list(old: Cluster, new: Cluster, field: str, segments: list[Segment]) -> Step:
    """A field with a value for each node; names and values have to be listed in the same order."""
    entry = NODE[field]
    names = ",".join(node_names(each.key, each.low, each.high) for each in segments)
    before, after = (_values(field, segments, side) for side in (0, 1))
    commands: tuple[str, ...] = ()
    if entry.cls == "live":
        if after is None or any(each.low < each.high and _constant(each, field) for each in segments):
            why = "Several nodes share one address, or have none of their own; scontrol sets one address for each."
            entry = replace(entry, cls="reconfigure", reason=why)
        else:
            commands = (update_nodes(names, field, after),)
    hosts = Hosts.parse(names)
    return make_step(entry, f"node {hosts}", field, (before, after), commands, concerned(old, new, hosts))


def _values(field: str, segments: list[Segment], side: int) -> str | None:
    """The listed values of one side; None where the lines do not have the field."""
    values = []
    for each in segments:
        piece = (each.old, each.new)[side][0]
        name = field if field in piece.templates else "NodeHostname" if field == "NodeAddr" else ""
        if name in piece.templates:
            values.append(piece.templates[name].over(each.low, each.high))
        elif field in ("NodeAddr", "NodeHostname"):
            values.append(node_names(each.key, each.low, each.high))
    return ",".join(values) or None


def _constant(segment: Segment, field: str) -> bool:
    template = segment.new[0].templates.get(field)
    return template is not None and not template.width
