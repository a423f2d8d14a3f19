"""A report cut to the room that there is, which says what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from operations.report.model import Report, ResourceDiff, Text
from operations.report.words import count, each_text

T = TypeVar("T")
TextLike = TypeVar("TextLike", Text, ResourceDiff)


@dataclass(frozen=True)
class Room:
    """How many rows a list or table has, lines a text, characters a line or cell, and how many resources are shown."""

    rows: int
    lines: int
    width: int
    resources: int


# From all that anybody would read to the least that is still a report.
ROOMS = (
    Room(200, 400, 2000, 200),
    Room(100, 200, 600, 100),
    Room(60, 120, 400, 50),
    Room(40, 80, 300, 25),
    Room(20, 40, 200, 10),
    Room(10, 20, 120, 0),
    Room(5, 8, 60, 0),
    Room(3, 4, 30, 0),
)


def cut(report: Report, room: Room) -> Report:
    return _Cutter(room).cut(report)


class _Cutter:
    """Cuts, and remembers what it has cut, by its name in the singular and the plural."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._left_out: dict[tuple[str, str], int] = {}

    def cut(self, report: Report) -> Report:
        rows = self._room.rows
        points = self._some(report.attention, rows, "point that needs attention", "points that need attention")
        steps = self._some(report.plan, rows, "step of the plan", "steps of the plan")
        rules = self._some(report.rules, rows, "broken rule")
        shorter = replace(
            report,
            attention=tuple(replace(each, details=self._details(each.details)) for each in points),
            errors=self._texts(report.errors, "error"),
            comparisons=tuple(
                replace(
                    each,
                    rows=self._some(each.rows, rows, f"changed {each.what}"),
                    same=self._some(each.same, rows, f"unchanged {each.what}"),
                )
                for each in report.comparisons
            ),
            files=self._texts(report.files, "changed Slurm file"),
            plan=tuple(replace(each, commands=self._some(each.commands, rows, "command")) for each in steps),
            rules=tuple(replace(each, broken=self._some(each.broken, rows, "policy violation")) for each in rules),
            warnings=self._texts(report.warnings, "warning"),
            resources=tuple(
                self._lines(each) for each in self._some(report.resources, self._room.resources, "changed resource")
            ),
        )
        clipped = each_text(shorter, self._clip)
        return replace(clipped, left_out=tuple(count(number, *what) for what, number in self._left_out.items()))

    def _texts(self, texts: Sequence[Text], what: str) -> tuple[Text, ...]:
        return tuple(self._lines(each) for each in self._some(texts, self._room.rows, what))

    def _lines(self, text: TextLike) -> TextLike:
        shown = self._some(text.lines, self._room.lines, "line")
        return replace(text, lines=shown, more=len(text.lines) - len(shown))

    def _details(self, details: tuple[str, ...]) -> tuple[str, ...]:
        shown = self._some(details, self._room.rows, "detail")
        return shown if shown == details else (*shown, f"and {len(details) - len(shown)} more")

    def _some(self, items: Sequence[T], most: int, what: str, many: str = "") -> tuple[T, ...]:
        self._note(what, many, len(items) - most)
        return tuple(items[:most])

    def _note(self, what: str, many: str, number: int) -> None:
        if number > 0:
            self._left_out[what, many] = self._left_out.get((what, many), 0) + number

    def _clip(self, text: str) -> str:
        if len(text) <= self._room.width:
            return text
        self._note("end of a long line", "ends of long lines", 1)
        return f"{text[: self._room.width]}…"
