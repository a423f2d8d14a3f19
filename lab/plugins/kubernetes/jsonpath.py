"""The part of kubectl's JSONPath that conditions are written in: fields, indices, `[*]` and filters on equality."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Step = Callable[[Any], list[Any]]


class JSONPathError(ValueError):
    """The expression cannot be read; the message says where."""


_TOKEN = re.compile(
    r"""
    \.\.(?P<deep>[\w$-]+)                                   # ..name
  | \.?\*                                                   # .*
  | \.(?P<name>(?:\\.|[^.\[\]{}=\s'"\\])+)                  # .name, with \. for a dot
  | \[\s*(?P<quote>['"])(?P<key>.*?)(?P=quote)\s*\]         # ['name']
  | \[\s*(?P<index>-?\d+)\s*\]                              # [0]
  | \[\s*(?P<all>\*)\s*\]                                   # [*]
  | \[\s*\?\(\s*@(?P<path>[^=!<>]*?)\s*(?P<operator>==|!=|<=|>=|<|>)\s*(?P<value>.+?)\s*\)\s*\]  # [?(@.a == "b")]
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class JSONPath:
    """A parsed expression; `find` gives what it selects."""

    text: str
    steps: tuple[Step, ...]

    def find(self, value: Any) -> list[Any]:
        found = [value]
        for step in self.steps:
            found = [item for each in found for item in step(each)]
        return found


def parse(text: str) -> JSONPath:
    """`{.status.phase}`, `.status.phase` or `$.status.phase`."""
    expression = text.strip()
    if expression.startswith("{") != expression.endswith("}"):
        raise JSONPathError(f"{text!r} has only one of its two braces")
    expression = expression.removeprefix("{").removesuffix("}").strip().removeprefix("$")
    if expression and expression[0] not in ".[":
        expression = f".{expression}"
    steps: list[Step] = []
    position = 0
    while position < len(expression):
        match = _TOKEN.match(expression, position)
        if not match:
            raise JSONPathError(f"{text!r} cannot be read from {expression[position:]!r} on")
        steps.append(_step(match))
        position = match.end()
    if not steps:
        raise JSONPathError(f"{text!r} selects nothing")
    return JSONPath(text, tuple(steps))


def _step(match: re.Match[str]) -> Step:
    if match["deep"]:
        return _deep(match["deep"])
    if match["name"]:
        return _field(re.sub(r"\\(.)", r"\1", match["name"]))
    if match["key"] is not None:
        return _field(match["key"])
    if match["index"]:
        return _index(int(match["index"]))
    if match["operator"]:
        return _filter(match["path"], match["operator"], match["value"])
    return _every


def _field(name: str) -> Step:
    def step(value: Any) -> list[Any]:
        return [value[name]] if isinstance(value, dict) and name in value else []

    return step


def _index(number: int) -> Step:
    def step(value: Any) -> list[Any]:
        return [value[number]] if isinstance(value, list) and -len(value) <= number < len(value) else []

    return step


def _every(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _deep(name: str) -> Step:
    def step(value: Any) -> list[Any]:
        found = [value[name]] if isinstance(value, dict) and name in value else []
        return found + [item for inner in _every(value) for item in step(inner)]

    return step


def _filter(path: str, operator: str, literal: str) -> Step:
    inner = parse(path) if path.strip() else None
    wanted = _literal(literal)

    def step(value: Any) -> list[Any]:
        items = value if isinstance(value, list) else []
        return [item for item in items if any(_holds(got, operator, wanted) for got in _at(inner, item))]

    return step


def _at(inner: JSONPath | None, item: Any) -> list[Any]:
    return inner.find(item) if inner else [item]


def _literal(text: str) -> Any:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if "." in text else int(text)
    except ValueError as error:
        raise JSONPathError(f"{text!r} is neither quoted, nor a number, nor true or false") from error


def _holds(got: Any, operator: str, wanted: Any) -> bool:
    if operator == "==":
        return got == wanted
    if operator == "!=":
        return got != wanted
    if isinstance(got, bool) or not isinstance(got, type(wanted) | int | float):
        return False
    try:
        return {"<": got < wanted, ">": got > wanted, "<=": got <= wanted, ">=": got >= wanted}[operator]
    except TypeError:
        return False
