"""Read slurm.conf and its friends: one logical line after the other, as Slurm's own parser takes them.

A line holds `Key=Value` pairs; `#` begins a comment unless a backslash stands before it; a backslash at the end joins
the next line; a value in double quotes may have blanks. Keys are the same in any case and are given back as the manual
spells them. What Slurm would read in a way that nobody means is an error here, with the number of its line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurm.keys import LINES, spelling

Fields = dict[str, str]

# Lines without fields that may be there more than once, or that are not of the form Key=Value.
REPEATED = ("SlurmctldHost",)
DEFAULT = "DEFAULT"

_COMMENT = re.compile(r"(?<!\\)#.*")
_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*=(\s*)(?:"([^"]*)"|([^\s"]+))(?=\s|$)')
_KEY = re.compile(r"[A-Za-z0-9_.]+=")
_INCLUDE = re.compile(r"include\s+(\S+)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class ConfError(ValueError):
    """A line that cannot be read; the message names the file and the line."""

    def __init__(self, source: str, number: int, what: str) -> None:
        super().__init__(f"{source} line {number}: {what}")


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line: where it began, and its pairs; the first of them says what kind of line it is."""

    number: int
    pairs: tuple[tuple[str, str], ...]

    @property
    def head(self) -> tuple[str, str]:
        return self.pairs[0]


@dataclass(frozen=True, slots=True)
class Conf:
    """A slurm.conf: keys of the cluster; the fields of nodes by NodeName expression, of partitions and of NodeSets by
    name, with DEFAULT lines worked in; the other lines, by their first key, each as the value and fields it has; and by
    kind of line the fields of DEFAULT lines that no line follows: they have no effect, but Slurm reads them."""

    keys: Mapping[str, str]
    nodes: Mapping[str, Fields]
    partitions: Mapping[str, Fields]
    nodesets: Mapping[str, Fields]
    lines: Mapping[str, tuple[Fields, ...]]
    unused: Mapping[str, Fields]


def parse(text: str, source: str = "slurm.conf", files: Mapping[str, str] | None = None) -> Conf:
    """Read a slurm.conf. `Include name` takes the text of that name from `files`."""
    keys: dict[str, str] = {}
    records: dict[str, dict[str, Fields]] = {"NodeName": {}, "PartitionName": {}, "NodeSet": {}}
    defaults: dict[str, Fields] = {}
    unused: dict[str, Fields] = {}
    others: dict[str, list[Fields]] = {}
    for at, line in _including(text, source, files or {}, others.setdefault("Include", [])):
        first = spelling(line.head[0])
        kind = next((each for each in LINES if each.lower() == first.lower()), None)
        if kind in records:
            unused[kind] = _add_record(records[kind], defaults.setdefault(kind, {}), kind, line, at, unused.get(kind))
        elif kind:
            others.setdefault(kind, []).append(_fields(kind, line))
        elif len(line.pairs) > 1:
            raise ConfError(
                at, line.number, f"{first} is a key of the cluster; {line.pairs[1][0]} needs a line of its own"
            )
        elif first in REPEATED:
            others.setdefault(first, []).append({first: line.head[1]})
        else:
            keys[first] = line.head[1]
    return Conf(
        keys,
        records["NodeName"],
        records["PartitionName"],
        records["NodeSet"],
        {kind: tuple(each) for kind, each in others.items() if each},
        unused,
    )


def lines(text: str, source: str) -> Iterator[Line]:
    """The lines of any file in Slurm's format."""
    for number, content in logical(text, source):
        yield Line(number, tuple(_pairs(content, source, number)))


def logical(text: str, source: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and blanks, with continued ones joined, each with the number of its first line."""
    began, joined = 0, ""
    for number, content in enumerate(text.split("\n"), 1):
        content = content.removesuffix("\r")
        if control := _CONTROL.search(content):
            raise ConfError(source, number, f"control character {control.group()!r}; write plain text")
        stripped = _COMMENT.sub("", content).replace("\\#", "#").rstrip()
        began = began or number
        if stripped.endswith("\\"):
            joined += stripped[:-1]
            continue
        if joined := (joined + stripped).strip():
            yield began, joined
        began, joined = 0, ""
    if joined.strip():
        raise ConfError(source, began, "the file ends in a line that a backslash continues")


def _including(
    text: str, source: str, files: Mapping[str, str], included: list[Fields], inside: tuple[str, ...] = ()
) -> Iterator[tuple[str, Line]]:
    for number, content in logical(text, source):
        if not (include := _INCLUDE.fullmatch(content)):
            yield source, Line(number, tuple(_pairs(content, source, number)))
            continue
        name = include.group(1)
        if name not in files or name in (source, *inside):
            why = (
                "includes itself" if name in files else "is not among the files; Slurm would look for it on the machine"
            )
            raise ConfError(source, number, f"Include {name}: it {why}")
        included.append({"Include": name})
        yield from _including(files[name], name, files, included, (source, *inside))


def _pairs(content: str, source: str, number: int) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(content):
        match = _PAIR.match(content, at)
        if not match:
            raise ConfError(source, number, _complaint(content[at:].strip()))
        key, gap, quoted, bare = match.groups()
        if gap and bare and _KEY.match(bare):
            raise ConfError(source, number, f"{key} has no value, and Slurm would take {bare!r} for it")
        yield key, bare if quoted is None else quoted
        at = match.end()


def _complaint(rest: str) -> str:
    shown = repr(rest if len(rest) <= 60 else f"{rest[:57]}...")
    if rest.count('"') % 2:
        return f"a quote is not closed in {shown}"
    if re.fullmatch(r"[A-Za-z0-9_.]+\s*=", rest):
        return f'{rest.rstrip("= ")} has no value; write {rest.rstrip("= ")}="" for none'
    return f"{shown} is not of the form Key=Value; values with blanks need double quotes"


def _fields(kind: str, line: Line) -> Fields:
    return {spelling(key, kind): value for key, value in line.pairs}


def _add_record(
    records: dict[str, Fields], defaults: Fields, kind: str, line: Line, source: str, unused: Fields | None
) -> Fields:
    """A DEFAULT line holds for the lines after it. What no line has taken up yet is given back."""
    fields = _fields(kind, line)
    name = fields.pop(kind)
    if name.upper() == DEFAULT:
        defaults |= fields
        return (unused or {}) | fields
    if name in records:
        raise ConfError(source, line.number, f"{kind}={name} is there twice")
    records[name] = defaults | fields
    return {}
