"""NodeSets and partitions before and after, as Slurm's files tell of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from slurm.hostlist import Hosts
from slurm.planning.cluster import Cluster

Fields = dict[str, str]
Cell = tuple[str, str]  # before and after

_NODE = ("CPUs", "RealMemory", "Gres", "Features", "Weight")
_PARTITION = ("Default", "State", "MaxTime")
_NOT_OF_A_SET = ("NodeHostname", "NodeAddr")


@dataclass(frozen=True)
class Row:
    name: str
    becomes: str  # new, changed or gone
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Comparison:
    """Rows of what changes, and the names of what stays."""

    what: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    same: tuple[str, ...]


def node_sets(before: Mapping[str, str] | None, after: Mapping[str, str]) -> Comparison:
    return _compare("NodeSet", _NODE, _sets(before), _sets(after))


def partitions(before: Mapping[str, str] | None, after: Mapping[str, str]) -> Comparison:
    return _compare("Partition", _PARTITION, _partitions(before), _partitions(after))


def _compare(what: str, always: tuple[str, ...], old: dict[str, Fields], new: dict[str, Fields]) -> Comparison:
    """Columns for what people ask for first, and for whatever else differs."""
    names = list(dict.fromkeys([*old, *new]))
    changed = [name for name in names if old.get(name) != new.get(name)]
    keys = ["Nodes", *always]
    for name in changed:
        sides = old.get(name, {}), new.get(name, {})
        keys += [key for key in dict.fromkeys([*sides[0], *sides[1]]) if key not in keys]
    keys = [key for key in keys if any(key in side.get(name, {}) for name in changed for side in (old, new))]
    rows = tuple(
        Row(
            name,
            "new" if name not in old else "gone" if name not in new else "changed",
            tuple((old.get(name, {}).get(key, ""), new.get(name, {}).get(key, "")) for key in keys),
        )
        for name in changed
    )
    return Comparison(what, tuple(keys), rows, tuple(name for name in names if name not in changed))


def _sets(files: Mapping[str, str] | None) -> dict[str, Fields]:
    """One entry a NodeSet: its nodes are numbered from 0 and alike."""
    cluster = Cluster.read(files or {})
    found: dict[str, Fields] = {}
    hosts: dict[str, Hosts] = {}
    for expression, fields in [*cluster.conf.nodes.items(), *cluster.dynamic.items()]:
        nodes = Hosts.parse(expression)
        for key, spans in nodes.spans.items():
            name = key.prefix.rstrip("-") or expression
            hosts[name] = hosts.get(name, Hosts()) | Hosts({key: spans})
            mine = found.setdefault(name, {"Nodes": ""})
            for field, value in fields.items():
                if field not in _NOT_OF_A_SET and value not in mine.get(field, "").split(" / "):
                    mine[field] = f"{mine[field]} / {value}" if mine.get(field) else value
    for name, fields in found.items():
        fields["Nodes"] = _counted(hosts[name])
    return found


def _partitions(files: Mapping[str, str] | None) -> dict[str, Fields]:
    cluster = Cluster.read(files or {})
    return {
        name: {**fields, "Nodes": _counted(cluster.partitions[name]) if cluster.partitions[name] else "none"}
        for name, fields in cluster.conf.partitions.items()
    }


def _counted(hosts: Hosts) -> str:
    return f"{hosts} ({len(hosts)})"
