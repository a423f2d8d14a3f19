"""Changed resources as a diff that people read: property by property, and texts line by line."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

import yaml

from operations.report.events import Resource

SIGNS = {"delete": "-", "replace": "±", "create": "+", "update": "~"}  # the gravest first
_CONTEXT = 2


def kind(resource: Resource) -> str:
    return resource.kind.rsplit(":", 1)[-1]


def ordered(resources: list[Resource]) -> list[Resource]:
    """The gravest first. The engine's own order is another each time, as it does many things at once."""
    gravest = list(SIGNS)

    def place(each: Resource) -> tuple[int, str, str]:
        return gravest.index(each.operation) if each.operation in gravest else len(gravest), kind(each), each.name

    return sorted(resources, key=place)


def lines(resource: Resource) -> list[str]:
    """What a reviewer compares. Of what is made or goes as a whole there is only one side to show."""
    if resource.operation == "delete":
        return []
    if not resource.old:
        return [f"+{line}" for line in _written(_without_notes(resource.new))]
    found: list[str] = []
    # The same change in many places, as of an image that several containers have, is shown once.
    places: dict[tuple[str, ...], list[str]] = {}
    for path, old, new in differences(_without_notes(resource.old), _without_notes(resource.new)):
        places.setdefault(tuple(_change(old, new)), []).append(path)
    for change, paths in places.items():
        found += [*(f"@@ {path} @@" for path in paths), *change]
    if not found and resource.changed:
        # Both sides look the same where a secret changes, and that it does must not be lost.
        found = [*(f"@@ {path} @@" for path in sorted(resource.changed)), " (changes, and is not shown)"]
    return found


def _change(old: Any, new: Any) -> list[str]:
    if isinstance(old, str) and isinstance(new, str) and ("\n" in old or "\n" in new):
        lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=_CONTEXT, lineterm=""))[2:]
        return [line for line in lines if not line.startswith("@@")]
    gone = [f"-{line}" for line in _written(old)] if old is not None else []
    return gone + ([f"+{line}" for line in _written(new)] if new is not None else [])


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Each property that differs, by its path; None where there is none."""
    if old == new:
        return
    if isinstance(old, list) and isinstance(new, list):
        old, new = _named(old), _named(new)
        joint = ""
    else:
        joint = "." if path else ""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield path, old, new
        return
    for key in dict.fromkeys([*old, *new]):
        yield from differences(old.get(key), new.get(key), f"{path}{joint}{key}")


def _named(items: list[Any]) -> dict[str, Any]:
    """A list by the names of what is in it, as Kubernetes compares containers and volumes; else by place."""
    names = [each.get("name") if isinstance(each, dict) else None for each in items]
    if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return {f"[{name}]": each for name, each in zip(names, items, strict=True)}
    return {f"[{at}]": each for at, each in enumerate(items)}


def _without_notes(properties: dict[str, Any]) -> dict[str, Any]:
    """Without what providers note for themselves."""
    return {key: value for key, value in properties.items() if not key.startswith("__")}


def _written(value: Any) -> list[str]:
    if isinstance(value, (dict, list)):
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110)
        return text.rstrip("\n").split("\n")
    return (value if isinstance(value, str) else json.dumps(value)).split("\n")
