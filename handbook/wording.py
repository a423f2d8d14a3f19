"""Types of the models, in words for whoever writes a stack file."""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from config.section import Section
from config.types import Script, SlurmValue
from config.types.names import Named
from config.types.parsed import Parsed

BELOW = "the keys below"  # what a section has


def worded(annotation: Any) -> str:
    """What may be written where a model has this type."""
    if annotation in (Script, SlurmValue):
        return "a script of any number of lines" if annotation == Script else "text, a number, true, false, or a list"
    if get_origin(annotation) is Annotated:
        bare, *about = get_args(annotation)
        named = next((each.wants for each in about if isinstance(each, Named)), None)
        return named or worded(bare) + (_range(about) if bare is int else "")
    if get_origin(annotation) in (Union, UnionType):
        [one] = [each for each in get_args(annotation) if each is not NoneType]
        return worded(one)
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return " or ".join(filter(None, (", ".join(f"`{each}`" for each in arguments[:-1]), f"`{arguments[-1]}`")))
    if get_origin(annotation) is list:
        return "a list" if _section(arguments[0]) else f"a list; each: {worded(arguments[0])}"
    if get_origin(annotation) is dict:
        return "names of your choice" if _section(arguments[1]) else f"keys, each with {worded(arguments[1])}"
    return _plain(annotation)


def _plain(kind: type) -> str:
    if kind is Any:
        return "any value"
    if issubclass(kind, Parsed):
        return kind.wants
    if issubclass(kind, Section):
        return BELOW
    return {bool: "`true` or `false`", int: "a whole number", str: "text"}[kind]


def _section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _range(about: list[Any]) -> str:
    """What is said of a number's size by the `Field`s around it."""
    bounds = [bound for each in about for bound in (each.metadata if isinstance(each, FieldInfo) else [each])]
    least = max((bound.ge for bound in bounds if hasattr(bound, "ge")), default=None)
    most = min((bound.le for bound in bounds if hasattr(bound, "le")), default=None)
    if least is not None and most is not None:
        return f" from {least} to {most}"
    return f" of at least {least}" if least is not None else ""
