"""Steps for the keys of slurm.conf that hold for the whole cluster, and for its lines that are neither nodes nor
partitions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from slurm.conf import DEFAULT
from slurm.hostlist import Hosts
from slurm.keys import LINES, SLURM_CONF, Entry, Table, find, without, worst
from slurm.keys.entry import drain_first
from slurm.keys.nodes import DOWN_NODES, POWER_ACTION
from slurm.planning.cluster import ALL, Cluster, concerned
from slurm.planning.live import drain, set_debug
from slurm.planning.step import NOBODY, Step, make_step, touches_jobs, written_change

_WHERE = "slurm.conf"
_DOWN = drain_first("Jobs on a node that the file calls DOWN are killed when slurmctld reads it.")


def key_steps(old: Cluster, new: Cluster) -> Iterator[Step]:
    """One step for each key that changes."""
    everyone = concerned(old, new, old.hosts)
    for key, entry, before, after in differing(old.conf.keys, new.conf.keys, SLURM_CONF, _WHERE):
        commands: tuple[str, ...] = ()
        whom = everyone if touches_jobs(entry) else NOBODY
        if entry.cls == "live":
            commands = (set_debug(after or entry.cleared or ""),)
        elif entry.cls == "drain-first":
            commands = (drain(ALL),)
        yield make_step(entry, _WHERE, key, (before, after), commands, whom)
    yield from _controllers(old, new)
    yield from _down_nodes(old, new)
    yield from _power_actions(old, new)
    yield from _unused_defaults(old, new)


def differing(
    ours: Mapping[str, str], theirs: Mapping[str, str], table: Table, where: str
) -> Iterator[tuple[str, Entry, str | None, str | None]]:
    """Keys that Slurm would notice the difference of, each with what the change takes."""
    for key in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(key), theirs.get(key)
        entry = find(table, key, where)
        if entry.same(before, after):
            continue
        if entry.cls == "refused" and key not in table and after is None:
            entry = without(key)
        yield key, by_option(entry, before, after), before, after


def by_option(entry: Entry, before: str | None, after: str | None) -> Entry:
    """What the options that differ take, where some of them take more than the key as a whole."""
    if not entry.options:
        return entry
    moved = _options(before) ^ _options(after)
    asked = [
        special
        for name, special in entry.options.items()
        if any(
            option.split("=")[0] == name.lower() or (name.endswith("_") and option.startswith(name)) for option in moved
        )
    ]
    chosen = worst([entry, *asked])
    return replace(chosen, options={}) if chosen is entry else chosen


def _options(value: str | None) -> set[str]:
    return {part.strip().lower() for part in (value or "").split(",") if part.strip()}


def _controllers(old: Cluster, new: Cluster) -> Iterator[Step]:
    """SlurmctldHost may be there several times, and the first one is the primary."""
    before, after = (
        ",".join(line["SlurmctldHost"] for line in side.conf.lines.get("SlurmctldHost", ())) or None
        for side in (old, new)
    )
    if before != after:
        yield make_step(SLURM_CONF["SlurmctldHost"], _WHERE, "SlurmctldHost", (before, after))


def _down_nodes(old: Cluster, new: Cluster) -> Iterator[Step]:
    ours, theirs = (_by_name(side, "DownNodes") for side in (old, new))
    for name in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(name), theirs.get(name)
        if before == after:
            continue
        hosts = Hosts.parse(name)
        down = after is not None and after.get("State", "DOWN").upper() == "DOWN"
        entry = worst([*([_DOWN] if down else []), _worst_field(DOWN_NODES, "DownNodes", before, after)])
        commands = (drain(str(hosts)),) if entry is _DOWN else ()
        change = written_change(before, after)
        yield make_step(entry, f"node {hosts}", "DownNodes", change, commands, concerned(old, new, hosts))


def _power_actions(old: Cluster, new: Cluster) -> Iterator[Step]:
    ours, theirs = (_by_name(side, "PowerAction") for side in (old, new))
    for name in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(name), theirs.get(name)
        if before != after:
            entry = _worst_field(POWER_ACTION, "PowerAction", before, after)
            yield make_step(entry, _WHERE, f"PowerAction {name}", written_change(before, after))


def _unused_defaults(old: Cluster, new: Cluster) -> Iterator[Step]:
    """DEFAULT lines that no line follows change nothing, but Slurm does not start with a key that it does not know."""
    for kind, fields in new.conf.unused.items():
        before = old.conf.unused.get(kind, {})
        for key, value in fields.items():
            entry = find(LINES[kind], key, f"a {kind} line")
            if entry.cls == "refused" and before.get(key) != value:
                yield make_step(entry, _WHERE, f"{kind}={DEFAULT} {key}", (before.get(key), value))


def _by_name(side: Cluster, kind: str) -> dict[str, dict[str, str]]:
    """Fields of several lines with the same name are taken together, so that none of them is overlooked."""
    found: dict[str, dict[str, str]] = {}
    for line in side.conf.lines.get(kind, ()):
        found.setdefault(line[kind], {}).update((key, value) for key, value in line.items() if key != kind)
    return found


def _worst_field(table: Table, kind: str, before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> Entry:
    fields = [entry for _, entry, _, _ in differing(before or {}, after or {}, table, f"a {kind} line")]
    return worst([table[kind], *fields])
