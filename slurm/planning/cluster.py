"""One side of a change: the files of a cluster, and which nodes, NodeSets and partitions they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

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

    def partition_hosts(self, nodes: str) -> Hosts:
        """The nodes that a partition's Nodes= means: nodes, NodeSets, or ALL."""
        plain: list[ranges.Range] = []
        found = Hosts()
        for each in ranges.parse(nodes):
            name = each.name(each.low) if each.size == 1 else ""
            if name == ALL:
                return self.hosts
            if name in self.nodesets:
                found |= self.nodesets[name]
            else:
                plain.append(each)
        return found | Hosts.of(plain)

    @cached_property
    def partitions(self) -> dict[str, Hosts]:
        return {name: self.partition_hosts(fields.get("Nodes", "")) for name, fields in self.conf.partitions.items()}

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
        self._spans: dict[Key, list[tuple[int, int, str]]] = {}
        for name, hosts in named.items():
            for key, spans in hosts.spans.items():
                self._spans.setdefault(key, []).extend((low, high, name) for low, high in spans)

    def names(self, hosts: Hosts) -> set[str]:
        return {
            name
            for key, spans in hosts.spans.items()
            for low, high, name in self._spans.get(key, ())
            if any(low <= last and first <= high for first, last in spans)
        }


def concerned(old: Cluster, new: Cluster, hosts: Hosts) -> Concerned:
    """Whom a change of these nodes concerns."""
    return Concerned(
        str(hosts),
        tuple(sorted(old.nodesets_of(hosts) | new.nodesets_of(hosts))),
        tuple(sorted(old.partitions_of(hosts) | new.partitions_of(hosts))),
    )
