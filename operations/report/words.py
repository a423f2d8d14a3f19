"""Sentences that name things: what is said, and what is quoted from files, clusters and people."""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

_QUOTED = re.compile(r"`([^`\n]+)`")


class Code(str):
    """Quoted, and shown as such. It may hold anything, so that only the layout decides how it is made harmless."""

    __slots__ = ()


Words = tuple[str, ...]  # plain text and Code, one after the other


def prose(text: str) -> Words:
    """A message that quotes with backticks, as ours do."""
    parts = _QUOTED.split(text)
    return tuple(Code(part) if at % 2 else part for at, part in enumerate(parts) if part)


def names(each: list[str]) -> Words:
    """`a`, `b` and `c`."""
    words: list[str] = []
    for at, name in enumerate(each):
        if at:
            words.append(" and " if at == len(each) - 1 else ", ")
        words.append(Code(name))
    return tuple(words)


def count(number: int, one: str, many: str = "") -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """The same with every text in it changed, however deep it is. What is quoted stays so."""
    if isinstance(value, str):
        return type(value)(change(value))
    if isinstance(value, tuple):
        return tuple(each_text(each, change) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: each_text(getattr(value, each.name), change) for each in fields(value)})
    return value
