"""From flat keys to one tree: `worker.size` and `worker: {size: …}` mean the same, and never both."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from config import plain_yaml
from config.paths import UNKNOWN, Path, Shape, Step, child, resolve, shape_at, spelled
from config.problems import Problem
from config.section import Section
from config.types.text import one_line, unsafe_character

DEEPEST = 50  # objects and lists inside each other; an affinity, the deepest that there is, has a dozen
NOTHING: dict[str, Any] = {}  # an object without keys says nothing yet; a list without entries is a value


@dataclass
class Branch:
    """A place in the tree: what is below it, or the value that stands there and the key that set it."""

    below: dict[Step, "Branch"] = field(default_factory=dict)
    value: Any = None
    key: str | None = None

    @property
    def holds_something(self) -> bool:
        """Whether a value stands here that leaves no room for others below it."""
        return self.key is not None and self.value != NOTHING

    def first_key(self) -> str:
        """A key that set something here or below."""
        return self.key if self.key is not None else next(iter(self.below.values())).first_key()


@dataclass
class Tree:
    """A nested config, and the keys that the user wrote it with."""

    prefix: str
    root: Branch = field(default_factory=Branch)
    written: dict[str, Path] = field(default_factory=dict)  # a key, without the prefix, to the path that it means
    problems: list[Problem] = field(default_factory=list)
    unsafe: set[Path] = field(default_factory=set)  # what is reported already, and must not be read any further

    def key(self, path: Path) -> str:
        """The key of a path as the user wrote it: with their own dots or brackets, and dots for what is nested."""
        above = [key for key, meant in self.written.items() if path[: len(meant)] == meant]
        if not above:
            return f"{self.prefix}{spelled(path)}"
        best = max(above, key=lambda key: len(self.written[key]))
        rest = spelled(path[len(self.written[best]) :])
        return f"{self.prefix}{best}.{rest}" if rest else f"{self.prefix}{best}"

    def report(self, path: Path, message: str, *, or_below: bool = False) -> None:
        """Note a problem at a path; with `or_below`, at the key that led there, if a single one did."""
        below = [key for key, meant in self.written.items() if meant[: len(path)] == path]
        key = f"{self.prefix}{below[0]}" if or_below and len(below) == 1 else self.key(path)
        self.problems.append(Problem(key, message))

    def values(self) -> dict[str, Any]:
        """The whole as dicts and lists."""
        return {str(name): _assembled(self, branch, (name,)) for name, branch in self.root.below.items()}


def grow(entries: Mapping[str, Any], root: type[Section], prefix: str) -> Tree:
    """One tree from keys without their prefix. What cannot be placed is reported and left out."""
    tree = Tree(prefix)
    for key, value in entries.items():
        if unsafe_character(key):
            tree.problems.append(Problem(f"{prefix}{key!r}", "contains a control character; take it away"))
            continue
        try:
            path, shape = resolve(key, root)
        except ValueError:
            tree.problems.append(Problem(f"{prefix}{key}", "is not a path of names joined by dots"))
            continue
        tree.written[key] = path
        decoded = _decoded(value, shape)
        if _deeper(decoded, DEEPEST):
            tree.report(path, f"is nested more than {DEEPEST} levels deep, which no setting is")
            tree.unsafe.add(path)
            continue
        for leaf_path, leaf in _leaves(decoded, shape, path):
            _place(tree, leaf_path, leaf, key, shape_at(leaf_path, root))
    return tree


def _decoded(value: Any, shape: Shape) -> Any:
    """Everything that `pulumi config set` writes is text, and objects and lists arrive as JSON: what it stands for,
    where text is not what is wanted."""
    if not isinstance(value, str) or shape.reads == "text":
        return value
    whole = shape.reads == "json" or shape.kind != "leaf"
    if whole and value.lstrip().startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    if shape.reads == "yaml":
        if whole and (found := plain_yaml.container(value)) is not None:
            return found
        if value and plain_yaml.scalar(value) is None:
            return None
    return value


def _deeper(value: Any, levels: int) -> bool:
    """Whether containers are inside each other more often than that; found out without following them by recursion."""
    inside = [value]
    for _ in range(levels + 1):
        inside = [
            member
            for each in inside
            for member in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
        ]
    return bool(inside)


def _leaves(value: Any, shape: Shape, path: Path) -> Iterator[tuple[Path, Any]]:
    """Each value at the end of a path; empty containers are values too. A key with nothing after it says nothing,
    but a name with nothing after it (`nodeSets: {gpu: }`) stands for all defaults."""
    if isinstance(value, dict) and value:
        for name, member in value.items():
            if member is None and shape.kind == "names":
                member = {}
            yield from _leaves(member, child(shape, str(name)), (*path, str(name)))
    elif isinstance(value, list) and value:
        for index, member in enumerate(value):
            yield from _leaves(member, child(shape, index) if shape.kind == "list" else UNKNOWN, (*path, index))
    elif value is not None or shape.kind == "free" or (path and isinstance(path[-1], int)):
        yield path, value


def _place(tree: Tree, path: Path, value: Any, key: str, shape: Shape) -> None:
    for depth, step in enumerate(path):
        if found := unsafe_character(str(step)):
            tree.problems.append(Problem(f"{tree.prefix}{key}", f"has a name in it with {found}; take it away"))
            tree.unsafe.add(path[: depth + 1])
            break
    if isinstance(value, str) and (found := unsafe_character(one_line(value) if shape.lines else value)):
        tree.report(path, f"contains {found}" + ("" if shape.lines else "; every setting is a single line of text"))
        tree.unsafe.add(path)
    branch = tree.root
    for step in path:
        if branch.holds_something:
            break
        branch = branch.below.setdefault(step, Branch())
    if branch.holds_something or (branch.below and value != NOTHING):
        one, what = branch.first_key(), f"{tree.prefix}{spelled(path)}"
        message = f"is set twice, by `{tree.prefix}{one}` and by `{tree.prefix}{key}`; keep one of them"
        tree.problems.append(Problem(what, message))
    elif branch.key is None or value != NOTHING:
        branch.value, branch.key = value, key


def _assembled(tree: Tree, branch: Branch, path: Path) -> Any:
    """A branch as dicts and lists: where all names below are numbers, a list was written by index."""
    if not branch.below:
        return branch.value
    members = {step: _assembled(tree, below, (*path, step)) for step, below in branch.below.items()}
    indices = sorted(step for step in members if isinstance(step, int))
    if not indices:
        return members
    if len(indices) != len(members):
        tree.report(path, "has both numbered entries and named ones; it can have only one kind")
        return {step: member for step, member in members.items() if isinstance(step, str)}
    found = next((place for place, index in enumerate(indices) if place != index), len(indices))
    if found < len(indices):
        message = f"there is no entry {found}; entries are counted from 0, without gaps"
        tree.report((*path, indices[-1]), message, or_below=True)
    return [members[index] for index in indices[:found]]
