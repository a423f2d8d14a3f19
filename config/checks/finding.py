"""What a cross-check reports."""

from collections.abc import Mapping
from dataclasses import dataclass

from config.paths import Path


@dataclass(frozen=True)
class Finding:
    """A problem between settings that are each fine by themselves."""

    path: Path
    message: str
    also: tuple[Path, ...] = ()  # what else it rests on: if one of these could not be read, it may be no problem


def circle_of(name: str, above: Mapping[str, str]) -> list[str]:
    """The names on the way up from a name back to itself; none if the way ends elsewhere."""
    way = [name]
    while (parent := above.get(way[-1])) is not None and parent not in way:
        way.append(parent)
    return way if above.get(way[-1]) == name else []
