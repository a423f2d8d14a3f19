"""A stack file that is being written, and where each part of it is from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from config.checks.names import TAKEN
from config.settings import WORKER
from operations.importing.field import (
    ANY,
    WHAT_TO_DO,
    Field,
    Path,
    Row,
    Taking,
    Tree,
    Unusable,
    children,
    found,
    says_nothing,
)

_RESERVED = ("all", "default", *TAKEN)


@dataclass(frozen=True)
class Mount:
    """A path in the shared root, and what is mounted there; `where` is who sees it: a NodeSet, or the logins."""

    where: str
    path: str
    volume: dict[str, Any]
    label: str


class Draft:
    """The config of a stack as nested values; what became of each field; and what is left for the user to do."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[Path, str] = {}
        self.rows: list[Row] = []
        self.todo: list[str] = []
        self.root_keys: list[str] = []  # public keys that logged in as root
        self.mounts: list[Mount] = []
        self.names: dict[str, str] = {}  # NodeSets by the names that they had

    def node_set(self, name: str) -> Path:
        """Where a NodeSet is in the stack file."""
        if name not in self.names:
            named = self.names[name] = free_name(name, self.names.values())
            if named != name:
                why = f"`{name}` is no name for a NodeSet here: its nodes are {named}-0 and so on"
                self.rows.append(Row(f"NodeSet {name}", "adapted", f"nodeSets.{named}", why))
        named = self.names[name]
        return (WORKER,) if named == WORKER else ("nodeSets", named)

    def place(self, into: str, names: Path) -> Path:
        """A key with the names in place of its `*`."""
        left = list(names)
        if into.startswith(f"nodeSets.{ANY}"):
            return (*self.node_set(left[0]), *into.split(".")[2:])
        return tuple(left.pop(0) if step == ANY and left else step for step in into.split("."))

    def put(self, path: Path, value: Any, source: str) -> bool:
        """Write a value, unless another stands there: the first that says something is the one that counts."""
        section = self.values
        for step in path[:-1]:
            section = section.setdefault(step, {})
        if path[-1] in section:
            return False
        section[path[-1]] = value
        self.sources[path] = source
        return True

    def get(self, *path: str) -> Any:
        value: Any = self.values
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    def source_of(self, path: Sequence[str | int]) -> str:
        """The field that a key of the stack file is from; the nearest one above it, or any below."""
        steps = tuple(map(str, path))
        for length in range(len(steps), 0, -1):
            if steps[:length] in self.sources:
                return self.sources[steps[:length]]
        return next((source for at, source in self.sources.items() if at[: len(steps)] == steps), "")


def fill(draft: Draft, tree: Tree, table: Sequence[Field]) -> None:
    """Carry over each field that the table knows, and name those that it does not know."""
    done: list[Path] = []
    for each in table:
        for path, names, value in found(each.steps, tree.values):
            rest = _without(value, path, done)
            if not says_nothing(rest):
                done.append(path)
                draft.rows.append(_take(Taking(each, rest, path, names, tree, draft)))
    _name_unknown(draft, tree, [each.steps for each in table], tree.values, ())


def _without(value: Any, path: Path, done: list[Path]) -> Any:
    """What is left of a value when other fields have taken their part of it."""
    if any(path[: len(other)] == other for other in done):
        return None
    if isinstance(value, dict) and any(other[: len(path)] == path for other in done):
        return {name: _without(member, (*path, name), done) for name, member in value.items()}
    return value


def _take(taking: Taking) -> Row:
    if taking.field.take is None:
        taking.left(taking.field.about)
    else:
        try:
            taking.field.take(taking)
        except Unusable as why:
            taking.left(str(why))
    return taking.tell()


def _name_unknown(draft: Draft, tree: Tree, known: list[Path], value: Any, path: Path) -> None:
    """Only fields that say something are told, and each with all below it at once."""
    if says_nothing(value) or () in known:
        return
    members = list(children(value)) if known else []
    if path and not members:
        draft.rows.append(Row(tree.label(_down(value, path)), "unknown", "", WHAT_TO_DO))
    for name, member in members:
        below = [steps[1:] for steps in known if steps[0] in (ANY, name)]
        _name_unknown(draft, tree, below, member, (*path, name))


def _down(value: Any, path: Path) -> Path:
    """To the first place below which more than one thing is said."""
    said = [(name, member) for name, member in children(value) if not says_nothing(member)]
    return _down(said[0][1], (*path, said[0][0])) if len(said) == 1 else path


def free_name(name: str, taken: Iterable[str] = (), longest: int = 40) -> str:
    """A name that Slurm, Kubernetes and DNS take, as near to the given one as can be."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = plain if re.match("[a-z]", plain) else f"n{plain}"
    plain = re.sub(r"-([0-9]+)$", r"\1", plain)[:longest].rstrip("-")
    plain = f"{plain}-nodes" if plain in _RESERVED else plain
    number, free, taken = 2, plain, {*taken}
    while free in taken:
        free, number = f"{plain}-n{number}", number + 1
    return free
