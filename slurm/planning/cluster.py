"""One side of a change: the files of a cluster, and which nodes, NodeSets and partitions they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from slurm import ranges
from slurm.conf import Conf, Fields, parse
from slurm.hostlist import Hosts, Key
from slurm.keys import DYNAMIC_NODES
from slurm.planning.records import Piece, pieces
from slurm.planning.step import Concerned

ALL = "ALL"


@dataclass(frozen=True)
class Cluster:
    files: Mapping[str, str]
    conf: Conf
    dynamic: Mapping[str, Fields]  # what the nodes of dynamic NodeSets say of themselves, by NodeName expression

    @classmethod
    def read(cls, files: Mapping[str, str]) -> "Cluster":
        dynamic = parse(files.get(DYNAMIC_NODES, ""), DYNAMIC_NODES)
        return cls(files, parse(files.get("slurm.conf", ""), files=files), dynamic.nodes)

    @cached_property
    def pieces(self) -> list[Piece]:
        return pieces(self.conf.nodes)

    @cached_property
    def dynamic_pieces(self) -> list[Piece]:
        return pieces(self.dynamic)

    @cached_property
    def static_hosts(self) -> Hosts:
        """All nodes that have a line in slurm.conf."""
        return _hosts(self.pieces)

    @cached_property
    def hosts(self) -> Hosts:
        """All nodes."""
        return self.static_hosts | _hosts(self.dynamic_pieces)

    @cached_property
    def cloud_hosts(self) -> Hosts:
        """Nodes that Slurm starts when there is work for them: until then there is no pod of their name."""
        stopped = {name: fields for name, fields in self.conf.nodes.items() if fields.get("State") == "CLOUD"}
        return _hosts(pieces(stopped))

    @cached_property
    def nodesets(self) -> dict[str, Hosts]:
        """The nodes of each NodeSet line, by name and by feature."""
        featured: dict[str, list[str]] = {}
        for expression, fields in [*self.conf.nodes.items(), *self.dynamic.items()]:
            for feature in fields.get("Features", "").split(","):
                featured.setdefault(feature, []).append(expression)
        return {
            name: Hosts.parse(",".join([fields.get("Nodes", ""), *featured.get(fields.get("Feature", "?"), [])]))
            for name, fields in self.conf.nodesets.items()
        }

    @cached_property
    def set_features(self) -> frozenset[str]:
        """Features that a NodeSet line goes by."""
        return frozenset(fields["Feature"] for fields in self.conf.nodesets.values() if "Feature" in fields)

    def partition_hosts(self, nodes: str) -> Hosts:
        """The nodes that a partition's Nodes= means: nodes, NodeSets, or ALL."""
        if nodes.upper() == ALL:
            return self.hosts
        plain: list[ranges.Range] = []
        sets: list[Hosts] = []
        for each in ranges.parse(nodes):
            name = each.name(each.low) if each.size == 1 else ""
            if name in self.nodesets:
                sets.append(self.nodesets[name])
            else:
                plain.append(each)
        return Hosts.union([*sets, Hosts.of(plain)])

    @cached_property
    def partitions(self) -> dict[str, Hosts]:
        """The nodes of each partition. Many have the same Nodes=, which is read once and is one object then."""
        members = {name: fields.get("Nodes", "") for name, fields in self.conf.partitions.items()}
        found = {nodes: self.partition_hosts(nodes) for nodes in dict.fromkeys(members.values())}
        return {name: found[nodes] for name, nodes in members.items()}

    @cached_property
    def _nodeset_index(self) -> "Index":
        return Index(self.nodesets)

    @cached_property
    def _partition_index(self) -> "Index":
        return Index(self.partitions)

    def nodesets_of(self, hosts: Hosts) -> set[str]:
        """NodeSets by their lines; nodes that are in none are called after theirs, as in worker-0."""
        found: set[str] = set()
        for key, spans in hosts.spans.items():
            stem = key.prefix.rstrip("-")
            found |= self._nodeset_index.names(Hosts({key: spans})) or ({stem} if stem else set())
        return found

    def partitions_of(self, hosts: Hosts) -> set[str]:
        return self._partition_index.names(hosts)


def _hosts(pieces: list[Piece]) -> Hosts:
    spans: dict[Key, list[tuple[int, int]]] = {}
    for piece in pieces:
        spans.setdefault(piece.key, []).append((piece.low, piece.high))
    return Hosts(spans)


class Index:
    """Which of many named sets of nodes have any of these; the cost grows with the ranges that are asked about."""

    def __init__(self, named: Mapping[str, Hosts]) -> None:
        alike: dict[int, list[str]] = {}  # names by the one object that they share, which is looked at once
        for name, hosts in named.items():
            alike.setdefault(id(hosts), []).append(name)
        self._spans: dict[Key, list[tuple[int, int, tuple[str, ...]]]] = {}
        for names in map(tuple, alike.values()):
            for key, spans in named[names[0]].spans.items():
                self._spans.setdefault(key, []).extend((low, high, names) for low, high in spans)

    def names(self, hosts: Hosts) -> set[str]:
        found = {
            names
            for key, spans in hosts.spans.items()
            for low, high, names in self._spans.get(key, ())
            if any(low <= last and first <= high for first, last in spans)
        }
        return set(chain.from_iterable(found))


def concerned(old: Cluster, new: Cluster, hosts: Hosts) -> Concerned:
    """Whom a change of these nodes concerns."""
    return Concerned(
        str(hosts),
        tuple(sorted(old.nodesets_of(hosts) | new.nodesets_of(hosts))),
        tuple(sorted(old.partitions_of(hosts) | new.partitions_of(hosts))),
    )
