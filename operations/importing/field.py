"""Fields of another operator, what becomes of them, and what is told of it."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from operations.importing.draft import Draft

_MANY = 3
ANY = "*"  # in a path: any name, or any entry of a list
Path = tuple[str, ...]
Outcome = Literal["carried over", "adapted", "left out", "unknown"]
OUTCOMES: tuple[Outcome, ...] = ("carried over", "adapted", "left out", "unknown")
WHAT_TO_DO = (
    "Slipway knows no such field; if it matters, say it in the stack file (`slipway schema` lists what it takes)"
)


class Unusable(Exception):  # noqa: N818 -- no error, but an answer
    """Why a value cannot be carried over."""


@dataclass(frozen=True)
class Row:
    """What became of one field of the source."""

    field: str
    outcome: Outcome
    into: str
    about: str


@dataclass(frozen=True)
class Field:
    """A field and all below it: the key that it becomes, how, and who does it; nobody, where it is left out."""

    path: str
    into: str
    about: str
    take: "Callable[[Taking], None] | None" = None

    @property
    def steps(self) -> Path:
        return tuple(self.path.split("."))


@dataclass
class Tree:
    """What the source says, in the shape of its chart, and by which words the user knows each part of it."""

    values: dict[str, Any]
    origins: dict[Path, str] = dataclasses.field(default_factory=dict)

    def label(self, path: Path) -> str:
        """A path as it stands in the source."""
        for length in range(len(path), -1, -1):
            if (origin := self.origins.get(path[:length])) is not None:
                return ".".join((*([origin] if origin else []), *path[length:]))
        return ".".join(path)

    def at(self, *path: str) -> Any:
        """The value at a path; None if there is none."""
        value: Any = self.values
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value


@dataclass
class Taking:
    """One field that is being carried over."""

    field: Field
    value: Any
    path: Path
    names: Path  # what stands for each `*` of the field's path
    tree: Tree
    draft: "Draft"
    kept: list[str] = dataclasses.field(default_factory=list)
    outcome: Outcome | None = None
    whys: list[str] = dataclasses.field(default_factory=list)

    def put(self, value: Any, into: str = "") -> None:
        """Write a value at a key of the stack file; `*` in it is what it is in the field's path."""
        path = self.draft.place(into or self.field.into, self.names)
        if value is None:
            return
        if self.draft.put(path, value, self.tree.label(self.path)) or self.draft.get(*path) == value:
            self.kept.append(".".join(path))
        else:
            self.whys.append(f"{'.'.join(path)} is what {self.draft.source_of(path)} says")

    def adapted(self, why: str) -> None:
        """It is carried over, but does not mean quite the same."""
        self.outcome = self.outcome or "adapted"
        self.whys.append(why)

    def left(self, why: str, *below: str) -> None:
        """It is not carried over; or a part of it is not."""
        if below:
            self.draft.rows.append(Row(self.tree.label((*self.path, *below)), "left out", "", why))
        else:
            self.outcome = "left out"
            self.whys.append(why)

    def only(self, *known: str) -> dict[str, Any]:
        """The value as keys and values; those that are not known are told."""
        return self.only_of(self.value, known)

    def only_of(self, value: Any, known: Sequence[str], *below: str) -> dict[str, Any]:
        """The same of a part of it."""
        values = mapping(value)
        for key in values:
            if key not in known and not says_nothing(values[key]):
                self.draft.rows.append(Row(self.tree.label((*self.path, *below, key)), "unknown", "", WHAT_TO_DO))
        return values

    def tell(self) -> Row:
        """What became of it."""
        outcome = self.outcome or ("carried over" if self.kept else "left out")
        about = "; ".join(self.whys) or ("" if outcome == "carried over" and self.kept else self.field.about)
        return Row(self.tree.label(self.path), outcome, _short(self.kept), about)


def _short(keys: list[str]) -> str:
    """A few keys in full, and many by the sections that they are in."""
    sections = [".".join(key.split(".")[:2]) for key in keys]
    return ", ".join(dict.fromkeys(sections if len(keys) > _MANY else keys))


def carried(path: str, into: str, about: str = "", read: Callable[[Any], Any] = lambda value: value) -> Field:
    """A field that becomes one key, as it is or read anew."""
    return Field(path, into, about, lambda taking: taking.put(read(taking.value)))


def if_so(value: Any) -> Any:
    """A switch that counts only where it is on, for what several fields may switch on."""
    return True if value is True else None


def left(path: str, why: str) -> Field:
    """A field that is deliberately left out."""
    return Field(path, "", why)


def says_nothing(value: Any) -> bool:
    """Whether there is nothing in a value that could be carried over; `false` and 0 are something."""
    if isinstance(value, dict):
        return all(map(says_nothing, value.values()))
    if isinstance(value, list):
        return all(map(says_nothing, value))
    return value is None or value == ""


def found(steps: Path, value: Any, path: Path = (), names: Path = ()) -> Iterator[tuple[Path, Path, Any]]:
    """Each place that a path with `*` means, what the `*` are there, and the value."""
    if says_nothing(value):
        return
    if not steps:
        yield path, names, value
        return
    first, *rest = steps
    for name, member in children(value):
        if first in (ANY, name):
            more = (*names, name) if first == ANY else names
            yield from found(tuple(rest), member, (*path, name), more)


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """Members by name; entries of a list by their number."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from ((str(index), member) for index, member in enumerate(value))


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unusable("it should have keys and values below it, and has not; look at it in the source")
    return value


def listing(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Unusable("it should be a list, and is none; look at it in the source")
    return value
