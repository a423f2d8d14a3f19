"""A plan as a table for people: one row a step, and below it the reason, whom it concerns, and the commands."""

import textwrap
from collections.abc import Sequence
from typing import Protocol

_HEADINGS = ("CLASS", "OBJECT", "KEY", "CHANGE")
_WIDEST = (18, 30, 24)
_GAP = "  "
_SHOWN = 3  # names of NodeSets or partitions in one line


class Row(Protocol):
    """What the table needs of a step."""

    @property
    def cls(self) -> str: ...
    @property
    def object(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def old(self) -> str | None: ...
    @property
    def new(self) -> str | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def commands(self) -> tuple[str, ...]: ...
    @property
    def nodesets(self) -> tuple[str, ...]: ...
    @property
    def partitions(self) -> tuple[str, ...]: ...
    @property
    def touches_jobs(self) -> bool: ...


def table(steps: Sequence[Row], width: int = 120) -> str:
    """Aligned columns, wrapped so that no line is longer than `width`, unless a single word of a command is."""
    if not steps:
        return "No changes."
    rows = [(step.cls, step.object, step.key, _change(step)) for step in steps]
    widths = [min(limit, max(len(row[at]) for row in (_HEADINGS, *rows))) for at, limit in enumerate(_WIDEST)]
    indent = " " * (widths[0] + len(_GAP))
    widths.append(max(20, width - sum(widths) - len(_GAP) * len(widths)))
    written = _lines(_HEADINGS, widths)
    for step, row in zip(steps, rows, strict=True):
        written += _lines(row, widths)
        written += textwrap.wrap(step.reason, width, initial_indent=indent, subsequent_indent=indent)
        if affected := _affected(step):
            written += [f"{indent}{affected}"]
        for command in step.commands:
            written += [f"{indent}{line}" for line in _command(command, width - len(indent))]
    return "\n".join(written)


def _affected(step: Row) -> str:
    """Whom a step concerns, in a line that is read at a glance."""
    concerned = [("NodeSets", step.nodesets), ("partitions", step.partitions)]
    parts = [f"{what}: {_few(names)}" for what, names in concerned if names]
    return "; ".join([*parts, "running jobs end first"] if step.touches_jobs else parts)


def _few(names: tuple[str, ...]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _change(step: Row) -> str:
    if step.old is None:
        return f"+ {step.new}"
    if step.new is None:
        return f"- {step.old}"
    return f"{step.old or '(none)'} -> {step.new or '(none)'}"


def _lines(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """One row, as many lines high as its highest cell."""
    wrapped = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width in zip(cells, widths, strict=True)
    ]
    height = max(map(len, wrapped))
    columns = [[*cell, *[""] * (height - len(cell))] for cell in wrapped]
    return [
        _GAP.join(part.ljust(width) for part, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]


def _command(command: str, width: int) -> list[str]:
    """A command as it can be copied to a shell."""
    parts = textwrap.wrap(command, width - 6, break_long_words=False, break_on_hyphens=False)
    first, *rest = [f"{part} \\" for part in parts[:-1]] + parts[-1:]
    return [f"$ {first}", *(f"    {part}" for part in rest)]
