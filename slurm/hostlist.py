"""Hostlists: `worker-[0-3,7]` and back, and set arithmetic on them that never expands a range.

`expand` gives names in the order in which `scontrol show hostnames` prints them; `compress` and all that is made of
`Hosts` is in natural order (worker-2 before worker-10) with every name once. What Slurm rejects is rejected here too,
and so is what it accepts but garbles: numbers of more than 18 digits, and characters that no node name has.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

MAX_HOSTS = 65536
MAX_DIGITS = 18

_NAME = re.compile(r"[A-Za-z0-9._:-]*")
_GROUP = re.compile(r"\[([^\[\]]*)\]")
_NUMBER = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)


class Range(NamedTuple):
    """Names that differ in one number: `prefix`, a number from `low` to `high` padded to `width`, `suffix`.

    A name without any number is its own prefix, with `width` 0 and one (unused) number."""

    prefix: str
    low: int = 0
    high: int = 0
    width: int = 0
    suffix: str = ""

    def name(self, number: int) -> str:
        return f"{self.prefix}{number:0{self.width}}{self.suffix}" if self.width else self.prefix

    @property
    def size(self) -> int:
        return self.high - self.low + 1


class Key(NamedTuple):
    """Where a name belongs: padded numbers (`padded` digits), plain ones (0) and names without a number (-1) differ."""

    prefix: str
    padded: int
    suffix: str


Span = tuple[int, int]


def parse(text: str) -> list[Range]:
    """The ranges of a hostlist in Slurm's order; of several bracket groups in a name, only the last stays a range."""
    ranges: list[Range] = []
    total = 0
    for item in _items(text):
        groups = [_numbers(group, text) for group in _GROUP.findall(item)]
        total += _product(sum(high - low + 1 for low, high, _ in group) for group in groups)
        if total > MAX_HOSTS:
            raise ValueError(f"hostlist {_shown(text)}: more than {MAX_HOSTS} hosts; Slurm allows no more in a cluster")
        ranges.extend(_ranges(item, groups, text))
    return ranges


def expand(text: str) -> list[str]:
    """Every name of a hostlist, in the order of `scontrol show hostnames`; a name that is there twice stays twice."""
    return [each.name(number) for each in parse(text) for number in range(each.low, each.high + 1)]


def count(text: str) -> int:
    """How many names `expand` would give."""
    return sum(each.size for each in parse(text))


def compress(names: Iterable[str]) -> str:
    """The shortest usual way to write these names: natural order, each once, numbers in brackets, padding kept."""
    return str(Hosts.of(_single(name, name) for name in names))


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
            name = each.name(number)
            single = _single(name, name)
            yield from ((key, low, high, low - number) for key, low, high, _ in canonical(single))
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


def _items(text: str) -> Iterator[str]:
    """The parts between commas that are not inside brackets; empty parts mean nothing, as in Slurm."""
    depth = start = 0
    for position, char in enumerate(f"{text},"):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
        if depth not in (0, 1):
            what = "a bracket inside a bracket" if depth > 1 else "a closing bracket that nothing opened"
            raise ValueError(f"hostlist {_shown(text)}: {what} at character {position + 1}")
        if char == "," and depth == 0:
            if position > start:
                yield text[start:position]
            start = position + 1
    if depth:
        raise ValueError(f"hostlist {_shown(text)}: the bracket at character {text.rindex('[') + 1} is not closed")


def _numbers(group: str, text: str) -> list[tuple[int, int, int]]:
    """The (low, high, width) of each part of one bracket group."""
    numbers: list[tuple[int, int, int]] = []
    for part in group.split(","):
        first, dash, last = part.partition("-")
        if not _digits(first) or (dash and not _digits(last)):
            raise ValueError(f"hostlist {_shown(text)}: [{group}] needs numbers or ranges such as 0-3, not {part!r}")
        _check_digits(first, text)
        _check_digits(last, text)
        low, high = int(first), int(last or first)
        if low > high:
            raise ValueError(f"hostlist {_shown(text)}: the range {part} in [{group}] runs backwards")
        numbers.append((low, high, len(first)))
    return numbers


def _ranges(item: str, groups: list[list[tuple[int, int, int]]], text: str) -> Iterator[Range]:
    """One name with its brackets, as ranges over the last group.

    Slurm lets the first of the other groups run fastest, and the last group faster than all of them."""
    literals = _GROUP.split(item)[::2]
    for literal in literals:
        if not _NAME.fullmatch(literal):
            raise ValueError(f"hostlist {_shown(text)}: {literal!r} has a character that no node name may have")
    if not groups:
        yield _single(item, text)
        return
    *others, last = groups
    written = [[f"{n:0{width}}" for low, high, width in group for n in range(low, high + 1)] for group in others]
    for chosen in product(*reversed(written)):
        numbers = [*reversed(chosen), ""]
        prefix = "".join(literal + number for literal, number in zip(literals[:-1], numbers, strict=True))
        for low, high, width in last:
            _check_digits(_last_digits(f"{prefix}{high:0{width}}{literals[-1]}"), text)
            yield Range(prefix, low, high, width, literals[-1])


def _single(name: str, text: str) -> Range:
    """A name without brackets, as the range of its last number."""
    match = _NUMBER.fullmatch(name)
    if not match:
        return Range(name)
    prefix, digits, suffix = match.groups()
    _check_digits(digits, text)
    return Range(prefix, int(digits), int(digits), len(digits), suffix)


def _last_digits(name: str) -> str:
    match = _NUMBER.fullmatch(name)
    return match.group(2) if match else ""


def _digits(part: str) -> bool:
    return part.isascii() and part.isdigit()


def _check_digits(digits: str, text: str) -> None:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"hostlist {_shown(text)}: the number {digits} has more than {MAX_DIGITS} digits")


def _product(counts: Iterable[int]) -> int:
    total = 1
    for each in counts:
        total *= each
    return total


def _shown(text: str) -> str:
    """Quoted, and short enough for a message."""
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


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
    return [(1, int(part), part) if _digits(part) else (0, 0, part) for part in re.split("([0-9]+)", text)]
