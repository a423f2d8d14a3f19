"""Hostlists as they are written: `worker-[0-3,7]` read into ranges, in the order in which Slurm has them.

What Slurm rejects is rejected here too, and so is what it accepts but garbles: numbers of more than 18 digits, and
characters that no node name has.
"""

import re
from collections.abc import Iterable, Iterator
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


def single(name: str, text: str = "") -> Range:
    """A name without brackets, as the range of its last number; `text` is the hostlist that it stands in."""
    match = _NUMBER.fullmatch(name)
    if not match:
        return Range(name)
    prefix, digits, suffix = match.groups()
    _check_digits(digits, text or name)
    return Range(prefix, int(digits), int(digits), len(digits), suffix)


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
        yield single(item, text)
        return
    *others, last = groups
    written = [[f"{n:0{width}}" for low, high, width in group for n in range(low, high + 1)] for group in others]
    for chosen in product(*reversed(written)):
        numbers = [*reversed(chosen), ""]
        prefix = "".join(literal + number for literal, number in zip(literals[:-1], numbers, strict=True))
        for low, high, width in last:
            _check_digits(_last_digits(f"{prefix}{high:0{width}}{literals[-1]}"), text)
            yield Range(prefix, low, high, width, literals[-1])


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
