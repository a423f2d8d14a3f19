"""Sets of hosts: from a hostlist and back, and arithmetic that never expands a range.

`expand` gives names in the order in which `scontrol show hostnames` prints them; `compress`, and all that is made of
`Hosts`, is in natural order (worker-2 before worker-10) with every name once. Messages are those of `slurm.ranges`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from slurm.ranges import Range, parse, single

Span = tuple[int, int]


class Key(NamedTuple):
    """Where a name belongs: padded numbers (`padded` digits), plain ones (0) and names without a number (-1) differ."""

    prefix: str
    padded: int
    suffix: str


def expand(text: str) -> list[str]:
    """Every name of a hostlist, in the order of `scontrol show hostnames`; a name that is there twice stays twice."""
    return [each.name(number) for each in parse(text) for number in range(each.low, each.high + 1)]


def count(text: str) -> int:
    """How many names `expand` would give."""
    return sum(each.size for each in parse(text))


def compress(names: Iterable[str]) -> str:
    """The shortest usual way to write these names: natural order, each once, numbers in brackets, padding kept."""
    return str(Hosts.of(single(name) for name in names))


def union(a: str, b: str) -> str:
    return str(Hosts.parse(a) | Hosts.parse(b))


def difference(a: str, b: str) -> str:
    return str(Hosts.parse(a) - Hosts.parse(b))


def intersection(a: str, b: str) -> str:
    return str(Hosts.parse(a) & Hosts.parse(b))


class Hosts:
    """A set of names, kept as spans of numbers; the cost of every operation grows with spans, not with names."""

    __slots__ = ("spans",)

    def __init__(self, spans: Mapping[Key, Iterable[Span]] | None = None) -> None:
        merged = {key: _merge(each) for key, each in (spans or {}).items()}
        self.spans: dict[Key, tuple[Span, ...]] = {key: each for key, each in merged.items() if each}

    @classmethod
    def parse(cls, text: str) -> "Hosts":
        return cls.of(parse(text))

    @classmethod
    def union(cls, several: Iterable["Hosts"]) -> "Hosts":
        """All of them together, at the cost of one: `|` in a loop would copy what is there already each time."""
        spans: dict[Key, list[Span]] = {}
        for hosts in several:
            for key, each in hosts.spans.items():
                spans.setdefault(key, []).extend(each)
        return cls(spans)

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> "Hosts":
        spans: dict[Key, list[Span]] = {}
        for each in ranges:
            for key, low, high, _ in canonical(each):
                spans.setdefault(key, []).append((low, high))
        return cls(spans)

    def __or__(self, other: "Hosts") -> "Hosts":
        return Hosts({key: (*self.spans.get(key, ()), *other.spans.get(key, ())) for key in self.spans | other.spans})

    def __sub__(self, other: "Hosts") -> "Hosts":
        return Hosts({key: _subtract(each, other.spans.get(key, ())) for key, each in self.spans.items()})

    def __and__(self, other: "Hosts") -> "Hosts":
        return self - (self - other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hosts) and self.spans == other.spans

    def __hash__(self) -> int:
        return hash(frozenset(self.spans.items()))

    def __len__(self) -> int:
        return sum(high - low + 1 for each in self.spans.values() for low, high in each)

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __iter__(self) -> Iterator[str]:
        return iter(expand(str(self)))

    def __str__(self) -> str:
        stems: dict[tuple[str, bool, str], list[tuple[int, int, int]]] = {}
        for key, each in self.spans.items():
            stem = stems.setdefault((key.prefix, key.padded >= 0, key.suffix), [])
            stem.extend((low, high, key.padded) for low, high in each)
        ordered = sorted(stems, key=lambda stem: (_natural(stem[0]), stem[1], _natural(stem[2])))
        return ",".join(_written(*stem, stems[stem]) for stem in ordered)

    def __repr__(self) -> str:
        return f"Hosts({str(self)!r})"


def canonical(each: Range) -> Iterator[tuple[Key, int, int, int]]:
    """The spans of a range as (key, low, high, shift), such that equal names have equal keys and numbers however they
    were written; `shift` is what was added to the range's own numbers, for digits that the prefix ended in."""
    if not each.width:
        yield Key(each.prefix, -1, ""), 0, 0, 0
        return
    if re.search("[0-9]", each.suffix):  # the number that counts is the last one of a name
        for number in range(each.low, each.high + 1):
            name = single(each.name(number))
            yield from ((key, low, high, low - number) for key, low, high, _ in canonical(name))
        return
    stem = each.prefix.rstrip("0123456789")
    digits = each.prefix[len(stem) :]
    low = each.low
    while low <= each.high:
        length = max(each.width, len(str(low)))
        high = min(each.high, 10**length - 1) if digits else each.high
        shift = int(digits or 0) * 10**length
        width = len(digits) + length if digits else each.width
        yield from _padded(Key(stem, width, each.suffix), low + shift, high + shift, shift)
        low = high + 1


def _padded(key: Key, low: int, high: int, shift: int) -> Iterator[tuple[Key, int, int, int]]:
    """Numbers that really begin with a zero keep their width in the key; the others are the same at any width."""
    first_plain = 10 ** (key.padded - 1) if key.padded > 1 else 0
    if low < first_plain:
        yield key, low, min(high, first_plain - 1), shift
    if high >= first_plain:
        yield key._replace(padded=0), max(low, first_plain), high, shift


def _merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _subtract(spans: tuple[Span, ...], away: tuple[Span, ...]) -> list[Span]:
    left: list[Span] = []
    position = 0
    for low, high in spans:
        while position < len(away) and away[position][1] < low:
            position += 1
        at = position
        while at < len(away) and away[at][0] <= high:
            if away[at][0] > low:
                left.append((low, away[at][0] - 1))
            low = away[at][1] + 1
            at += 1
        if low <= high:
            left.append((low, high))
    return left


def _written(prefix: str, numbered: bool, suffix: str, ranges: list[tuple[int, int, int]]) -> str:
    """One stem with its numbers: `n[09-11]` is the padded 09 and the plain 10 and 11 that follow it."""
    if not numbered:
        return prefix
    plain: list[tuple[int, int, int]] = []
    for low, high, padded in sorted(ranges):
        follows = plain and padded == 0 and plain[-1][2] > 0 and low == plain[-1][1] + 1 == 10 ** (plain[-1][2] - 1)
        if follows:
            plain[-1] = (plain[-1][0], high, plain[-1][2])
        else:
            plain.append((low, high, padded))
    parts = [f"{low:0{width}}" if low == high else f"{low:0{width}}-{high:0{width}}" for low, high, width in plain]
    if len(parts) == 1 and plain[0][0] == plain[0][1]:
        return f"{prefix}{parts[0]}{suffix}"
    return f"{prefix}[{','.join(parts)}]{suffix}"


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A sorting key by which a2 comes before a10."""
    return [(1, int(part), part) if part.isdigit() else (0, 0, part) for part in re.split("([0-9]+)", text)]
