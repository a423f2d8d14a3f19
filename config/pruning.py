"""A config with parts of it left out, that still knows where everything stood."""

from collections.abc import Collection
from typing import Any

from config.paths import Path


class Pruned:
    """A copy of nested values without some paths. Entries of lists move up, and `as_written` moves them back."""

    def __init__(self, values: dict[str, Any], cut: Collection[Path] = ()) -> None:
        self._cut = frozenset(cut)
        self._places: dict[Path, list[int]] = {}  # a list's path to where each entry that is left stood
        self.values: dict[str, Any] = self._copy(values, (), ())

    def as_written(self, path: Path) -> Path:
        """A path in the copy as a path in the original."""
        written: Path = ()
        for depth, step in enumerate(path):
            stood = self._places.get(path[:depth])
            written = (*written, stood[step] if stood and isinstance(step, int) and step < len(stood) else step)
        return written

    def _copy(self, value: Any, written: Path, path: Path) -> Any:
        if isinstance(value, dict):
            return {
                name: self._copy(member, (*written, name), (*path, name))
                for name, member in value.items()
                if (*written, name) not in self._cut
            }
        if isinstance(value, list):
            kept = [index for index in range(len(value)) if (*written, index) not in self._cut]
            self._places[path] = kept
            return [self._copy(value[index], (*written, index), (*path, place)) for place, index in enumerate(kept)]
        return value
