"""What a program changed, property by property: old inputs against new inputs."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from lab.plugins.server import UNKNOWN

Path = tuple[str | int, ...]


class Change(Enum):
    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True)
class Difference:
    """One changed property; `old` and `new` are None where there is none."""

    path: Path
    change: Change
    old: Any = None
    new: Any = None


def differences(old: Any, new: Any, path: Path = ()) -> list[Difference]:
    """All differences, as deep as they go: a changed key of a ConfigMap is one difference, not the whole of it."""
    if new is UNKNOWN:
        return [Difference(path, Change.UPDATE, old, new)]
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in sorted(old.keys() | new.keys()):
            found += _member(old, new, key, path)
        return found
    if isinstance(old, list) and isinstance(new, list):
        shorter = min(len(old), len(new))
        found = [item for index in range(shorter) for item in differences(old[index], new[index], (*path, index))]
        found += [Difference((*path, i), Change.ADD, None, new[i]) for i in range(shorter, len(new))]
        return found + [Difference((*path, i), Change.DELETE, old[i], None) for i in range(shorter, len(old))]
    return [] if _equal(old, new) else [Difference(path, Change.UPDATE, old, new)]


def _member(old: dict[str, Any], new: dict[str, Any], key: str, path: Path) -> list[Difference]:
    here = (*path, key)
    if key not in old:
        # An empty mapping or list says the same to the API server as none at all.
        return [] if new[key] in ({}, []) else [Difference(here, Change.ADD, None, new[key])]
    if key not in new:
        return [] if old[key] in ({}, []) else [Difference(here, Change.DELETE, old[key], None)]
    return differences(old[key], new[key], here)


def _equal(old: Any, new: Any) -> bool:
    # True == 1 in Python, and they are different things to Kubernetes.
    return old == new and isinstance(old, bool) == isinstance(new, bool)


def text(path: Path) -> str:
    """A path as the engine writes it: `data["slurm.conf"]`, `spec.template.spec.containers[0].image`."""
    written = ""
    for part in path:
        if isinstance(part, int):
            written += f"[{part}]"
        elif any(character in part for character in '."[]'):
            written += '["' + part.replace('"', '\\"') + '"]'
        else:
            written += f".{part}" if written else part
    return written


def parse(written: str) -> Path:
    """The reverse of `text`; `[*]` stays a string."""
    parts: list[str | int] = []
    position = 0
    while position < len(written):
        if written.startswith('["', position):
            end = _closing(written, position + 2)
            parts.append(written[position + 2 : end].replace('\\"', '"'))
            position = end + 2
        elif written[position] == "[":
            end = written.index("]", position)
            inside = written[position + 1 : end]
            parts.append(int(inside) if inside.isdigit() else inside)
            position = end + 1
        elif written[position] == ".":
            position += 1
        else:
            end = min((i for i in (written.find(c, position) for c in ".[") if i >= 0), default=len(written))
            parts.append(written[position:end])
            position = end
    return tuple(parts)


def _closing(written: str, start: int) -> int:
    while written[start] != '"' or written[start - 1] == "\\":
        start += 1
    return start
