"""What a local command may be given, and what a change of it means: pure functions on Python values."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.plugins.server import Secret, Unknown, plain

LOGGING = ("stdout", "stderr", "stdoutAndStderr", "none")
_TEXTS = ("create", "update", "delete", "dir", "stdin", "command")
_LEFT_OUT = ("assetPaths", "archivePaths")
_REPLACE = "triggers"

Change = tuple[str, str]  # (property path, "ADD" | "DELETE" | "UPDATE", with "_REPLACE" behind it for a replacement)


def with_defaults(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as they are kept in the state, with the one default that the official provider writes there."""
    given = {name: value for name, value in inputs.items() if value is not None}
    return {"addPreviousOutputInEnv": True} | given


def failures(inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(property, reason) for each input that is not of its type. What is unknown yet is not judged."""
    for name, secret in inputs.items():
        value = plain(secret)
        if isinstance(value, Unknown) or value is None:
            continue
        if name in _LEFT_OUT:
            yield name, "this provider does not collect files; write them where they are needed, or read stdout"
        elif name in _TEXTS and not isinstance(value, str):
            yield name, f"must be a string, is {_kind(value)}"
        elif name == "environment":
            yield from _not_strings(name, value, dict)
        elif name == "interpreter":
            yield from _not_strings(name, value, list)
        elif name == "addPreviousOutputInEnv" and not isinstance(value, bool):
            yield name, f"must be true or false, is {_kind(value)}"
        elif name == "logging" and value not in LOGGING:
            yield name, f"must be one of {', '.join(LOGGING)}, is {value!r}"


def _not_strings(name: str, value: Any, container: type) -> Iterator[tuple[str, str]]:
    if not isinstance(value, container):
        yield name, f"must be {_kind(container())}, is {_kind(value)}"
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if not isinstance(item, str | Unknown):
            yield name, f"{key} must be a string, is {_kind(item)}"


def _kind(value: Any) -> str:
    names = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a map"}
    return names.get(type(value), "empty")


def changes(old: Any, new: Any, path: str = "") -> Iterator[Change]:
    """What differs between two sets of inputs. A value that becomes secret, or stops being so, has changed too."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from _change(old, new, key, _below(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        before, after = dict(enumerate(old)), dict(enumerate(new))
        for index in sorted({*before, *after}):
            yield from _change(before, after, index, f"{path}[{index}]")
    elif isinstance(new, Unknown) or old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, _operation("UPDATE", path)


def _change(old: Mapping[Any, Any], new: Mapping[Any, Any], key: Any, path: str) -> Iterator[Change]:
    if key not in old:
        yield path, _operation("ADD", path)
    elif key not in new:
        yield path, _operation("DELETE", path)
    else:
        yield from changes(old[key], new[key], path)


def _below(path: str, key: str) -> str:
    """The path to `key` under `path`, as the engine reads it: what is not a plain word is quoted."""
    if re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", key):
        return f"{path}.{key}" if path else key
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def _operation(operation: str, path: str) -> str:
    replace = path == _REPLACE or path.startswith((f"{_REPLACE}[", f"{_REPLACE}."))
    return f"{operation}_REPLACE" if replace else operation


def shown(command: Any) -> str:
    """The command line for a message, unless it is secret."""
    return "[secret]" if isinstance(command, Secret) else str(command)
