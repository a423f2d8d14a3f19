"""Lines that belong to nodes, compared node by node without ever writing the nodes out.

`NodeName=worker-[0-3] NodeAddr=worker-[0-3].svc` is one line for many nodes. A piece is a part of a line in which every
value is either the same for all of its nodes or counts up with them, so that its first and last node say it all. The
pieces of two files are laid side by side; wherever one begins or ends there is a cut, and between two cuts nothing
changes from node to node. However the lines were split, equal nodes compare as equal.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from slurm.hostlist import Key, canonical
from slurm.ranges import Range, parse

# Fields that list one value for each node of the line, in the same order.
POSITIONAL = ("NodeHostname", "NodeAddr", "BcastAddr", "Port")


class Template(NamedTuple):
    """A value that counts up with the number of its node, or one that does not (`width` 0)."""

    prefix: str
    shift: int = 0
    width: int = 0
    suffix: str = ""

    def at(self, number: int) -> str:
        return f"{self.prefix}{number + self.shift:0{self.width}}{self.suffix}" if self.width else self.prefix

    def over(self, low: int, high: int) -> str:
        """The values of several nodes, as a hostlist."""
        if low == high or not self.width:
            return self.at(low)
        return f"{self.prefix}[{low + self.shift:0{self.width}}-{high + self.shift:0{self.width}}]{self.suffix}"


@dataclass(frozen=True, slots=True)
class Piece:
    key: Key
    low: int
    high: int
    line: str
    templates: Mapping[str, Template] = field(default_factory=dict)

    def value(self, name: str, number: int) -> str | None:
        """A positional field of one node, with the defaults that Slurm takes from its other names."""
        if name in self.templates:
            return self.templates[name].at(number)
        if name == "NodeAddr":
            return self.value("NodeHostname", number)
        return node_name(self.key, number) if name == "NodeHostname" else None


class Segment(NamedTuple):
    """Nodes that are alike on both sides, and the pieces that they come from."""

    key: Key
    low: int
    high: int
    old: tuple[Piece, ...]
    new: tuple[Piece, ...]


def pieces(records: Mapping[str, Mapping[str, str]]) -> list[Piece]:
    """The pieces of NodeName lines, by expression."""
    found: list[Piece] = []
    for expression, fields in records.items():
        parts: list[tuple[Range, dict[str, Template]]] = [(each, {}) for each in parse(expression)]
        for name in POSITIONAL:
            if name in fields:
                parts = list(_aligned(parts, name, fields[name], expression))
        for each, templates in parts:
            found.extend(piece(each, expression, templates))
    return found


def piece(each: Range, line: str, templates: Mapping[str, Template]) -> Iterator[Piece]:
    for key, low, high, shift in canonical(each):
        moved = {name: one._replace(shift=one.shift - shift) for name, one in templates.items()}
        yield Piece(key, low, high, line, moved)


def sweep(old: Iterable[Piece], new: Iterable[Piece]) -> Iterator[Segment]:
    """All nodes of both sides, cut where anything changes."""
    sides: dict[Key, tuple[list[Piece], list[Piece]]] = {}
    for side, each in enumerate((old, new)):
        for one in each:
            sides.setdefault(one.key, ([], []))[side].append(one)
    for key, (before, after) in sides.items():
        yield from _cut(key, before, after)


def node_name(key: Key, number: int) -> str:
    return Range(key.prefix, width=0 if key.padded < 0 else max(key.padded, 1), suffix=key.suffix).name(number)


def node_names(key: Key, low: int, high: int) -> str:
    """Nodes of one segment, as a hostlist in the order of their numbers."""
    if key.padded < 0:
        return key.prefix
    return Template(key.prefix, 0, max(key.padded, 1), key.suffix).over(low, high)


def _cut(key: Key, before: Sequence[Piece], after: Sequence[Piece]) -> Iterator[Segment]:
    starts = sorted({each.low for each in (*before, *after)} | {each.high + 1 for each in (*before, *after)})
    waiting = [sorted(side, key=lambda each: each.low, reverse=True) for side in (before, after)]
    inside: list[list[Piece]] = [[], []]
    for low, following in pairwise(starts):
        for side in (0, 1):
            inside[side] = [each for each in inside[side] if each.high >= low]
            while waiting[side] and waiting[side][-1].low <= low:
                inside[side].append(waiting[side].pop())
        if inside[0] or inside[1]:
            yield Segment(key, low, following - 1, tuple(inside[0]), tuple(inside[1]))


def _aligned(
    parts: list[tuple[Range, dict[str, Template]]], name: str, value: str, line: str
) -> Iterator[tuple[Range, dict[str, Template]]]:
    """Cut the nodes of a line where the list of one of its fields goes from one range to the next."""
    try:
        values = parse(value)
    except ValueError:  # not a list of names, such as an address with characters of its own
        values = [Range(value)]
    sizes = sum(each.size for each, _ in parts), sum(each.size for each in values)
    if sizes[1] == 1:
        for each, templates in parts:
            yield each, {**templates, name: Template(values[0].name(values[0].low))}
        return
    if sizes[0] != sizes[1]:
        raise ValueError(f"NodeName={line}: {sizes[0]} nodes, but {name}={value} is a list of {sizes[1]}")
    queue = iter(values)
    one, used = next(queue), 0
    for each, templates in parts:
        low = each.low
        while low <= each.high:
            if used == one.size:
                one, used = next(queue), 0
            high = min(each.high, low + one.size - used - 1)
            template = Template(one.prefix, one.low + used - low, one.width, one.suffix)
            yield each._replace(low=low, high=high), {**templates, name: template}
            used += high - low + 1
            low = high + 1
