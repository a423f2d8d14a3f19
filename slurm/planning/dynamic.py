"""Steps for the nodes of dynamic NodeSets. They stand in no file that Slurm reads: each says what it has when it
starts, and `dynamic-nodes.conf` says it for the plan."""

from collections.abc import Iterator

from slurm.conf import Fields
from slurm.hostlist import Hosts, Key
from slurm.keys import File, find, without
from slurm.keys.entry import live
from slurm.planning.cluster import Cluster, concerned
from slurm.planning.live import drain
from slurm.planning.nodes import REMOVED
from slurm.planning.records import sweep
from slurm.planning.step import Change, Step, make_step, written_change

ADDED = live("Nothing has to be done: the nodes make themselves known to Slurm when their pods start.")

Spans = dict[Key, list[tuple[int, int]]]


def dynamic_steps(old: Cluster, new: Cluster, name: str, kind: File) -> Iterator[Step]:
    """What comes, what goes, and what the nodes that stay will say of themselves."""
    found: dict[tuple[str, Change], Spans] = {}
    for segment in sweep(old.dynamic_pieces, new.dynamic_pieces):
        ours, theirs = (
            side.dynamic[pieces[0].line] if pieces else None
            for side, pieces in ((old, segment.old), (new, segment.new))
        )
        for key, change in _differences(ours, theirs, name, kind):
            found.setdefault((key, change), {}).setdefault(segment.key, []).append((segment.low, segment.high))
    for (key, change), spans in found.items():
        hosts = Hosts(spans)
        entry = find(kind.keys, key, name)
        if key == "NodeName":
            entry = ADDED if change[0] is None else REMOVED
        elif entry.cls == "refused" and change[1] is None:
            entry = without(key)
        commands = (drain(str(hosts)),) if entry.cls == "drain-first" else ()
        yield make_step(entry, f"node {hosts}", key, change, commands, concerned(old, new, hosts))


def _differences(ours: Fields | None, theirs: Fields | None, name: str, kind: File) -> Iterator[tuple[str, Change]]:
    if ours is None or theirs is None:
        yield "NodeName", written_change(ours, theirs)
    before, after = ours or {}, theirs or {}
    for key in dict.fromkeys([*before, *after]):
        entry, change = find(kind.keys, key, name), (before.get(key), after.get(key))
        told = ours is not None or entry.cls == "refused"  # a node that comes is one step, with all it has
        if theirs is not None and told and not entry.same(*change):
            yield key, change
