"""Paths through the settings: what a dotted key means, and what the settings expect at its end.

A dotted key cannot be split blindly. Label keys and annotations contain dots themselves
(`nodeFilters.gpu.nodeSelector.kubernetes.io/arch`), so the models say where a name ends.
"""

import re
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from config.section import Section
from config.types import Script, SlurmValue

Step = str | int
Path = tuple[Step, ...]
Reads = Literal["text", "yaml", "json"]

_STEP = re.compile(r'\.?(?:\[(?P<index>[0-9]+)\]|\["(?P<quoted>[^"]+)"\]|(?P<plain>[^.\[\]]+))')


@dataclass(frozen=True)
class Shape:
    """What the settings expect at a path. `kind` is `section`, `names`, `map`, `list`, `free`, `leaf` or `unknown`."""

    kind: str
    model: type[Section] | None = None  # of a section
    inner: Any = None  # the type of the members of names, a map or a list
    lines: bool = False  # whether text may have several
    reads: Reads = "yaml"  # what text stands for here: itself, what YAML reads in it, or itself unless it is JSON


UNKNOWN = Shape("unknown", reads="json")
_FREE = Shape("free", reads="json")


def shape_of(annotation: Any) -> Shape:
    """What a type of the models looks like to someone who writes a stack file."""
    bare = _bare(annotation)
    if isinstance(bare, type) and issubclass(bare, Section):
        return Shape("section", model=bare)
    if bare is Any:
        return _FREE
    arguments = get_args(bare)
    if get_origin(bare) is list:
        return Shape("list", inner=arguments[0])
    if get_origin(bare) is dict:
        inner = shape_of(arguments[1])
        if inner.kind == "free":
            return _FREE
        return Shape("names" if inner.kind == "section" else "map", inner=arguments[1])
    if Script in (annotation, *get_args(annotation)):
        return Shape("leaf", reads="text", lines=True)
    if annotation == SlurmValue:
        return Shape("leaf", reads="json")  # a list of values is joined by commas
    return Shape("leaf", reads="text" if bare is str or get_origin(bare) is Literal else "yaml")


def child(shape: Shape, step: Step) -> Shape:
    """What is expected one step further."""
    if shape.kind == "section" and shape.model is not None:
        return _fields(shape.model).get(step, UNKNOWN)
    if shape.kind in ("names", "map", "list"):
        return shape_of(shape.inner)
    return _FREE if shape.kind == "free" else UNKNOWN


@cache
def _fields(model: type[Section]) -> dict[Step, Shape]:
    return {field.alias or name: shape_of(field.annotation) for name, field in model.model_fields.items()}


def resolve(key: str, root: type[Section]) -> tuple[Path, Shape]:
    """The path that a dotted key means, and what is expected there. ValueError if it is no path at all."""
    if not key:
        raise ValueError
    path: Path = ()
    shape = shape_of(root)
    rest = key
    while rest:
        if shape.kind == "map" and not rest.startswith("["):
            step, rest = rest.removeprefix("."), ""  # the key of a map may contain dots
        else:
            step, rest = _first_step(rest, first=not path)
        if shape.kind in ("list", "free", "unknown") and isinstance(step, str) and step.isdecimal():
            step = int(step)
        if not step and step != 0:
            raise ValueError
        shape = child(shape, step)
        path = (*path, step)
    return path, shape


def spelled(path: Path) -> str:
    """A path as a dotted key."""
    return ".".join(map(str, path))


def shape_at(path: Path, root: type[Section]) -> Shape:
    """What is expected at a path."""
    shape = shape_of(root)
    for step in path:
        shape = child(shape, step)
    return shape


def _first_step(text: str, first: bool) -> tuple[Step, str]:
    match = _STEP.match(text)
    if match is None or (first and text.startswith((".", "["))) or text.startswith(".["):
        raise ValueError
    if not first and match["plain"] and not text.startswith("."):
        raise ValueError
    if match["index"]:
        return int(match["index"]), text[match.end() :]
    return match["quoted"] or match["plain"], text[match.end() :]


def _bare(annotation: Any) -> Any:
    """The type itself, without what checks it and without "or nothing"."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        [one] = [each for each in get_args(annotation) if each is not NoneType]
        return _bare(one)
    return annotation
