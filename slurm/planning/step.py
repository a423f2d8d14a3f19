"""What a plan consists of."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from slurm.hidden import HIDDEN
from slurm.keys import SEVERITY, Class, Entry, severity
from slurm.planning.table import table

_TOUCHES_JOBS: frozenset[Class] = frozenset({"restart-workers", "drain-first"})  # by themselves or as what follows
RECONFIGURE = "scontrol reconfigure"

Change = tuple[str | None, str | None]


class Concerned(NamedTuple):
    """Whom a step concerns."""

    nodes: str = ""
    nodesets: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


NOBODY = Concerned()


@dataclass(frozen=True, slots=True)
class Step:
    """One key of one object that changes, and what that takes.

    `old` and `new` are None where there is none. `commands` are ready for a shell, and for `shlex.split` without one.
    For a reconfigure they are the one command that all such steps share. Of a step to drain first, they empty what has
    to be empty, or remove it once it is empty; restarts have none. `nodes` is a hostlist. `also` names the classes of
    work that have to follow on the same change, because further daemons have to learn of it."""

    cls: Class
    object: str
    key: str
    old: str | None
    new: str | None
    reason: str
    commands: tuple[str, ...] = ()
    nodesets: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    nodes: str = ""
    touches_jobs: bool = False
    also: tuple[Class, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "class": self.cls,
            "object": self.object,
            "key": self.key,
            "old": self.old,
            "new": self.new,
            "reason": self.reason,
            "commands": list(self.commands),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps from one set of files to another, in the order in which they are carried out."""

    steps: tuple[Step, ...] = ()

    @property
    def cls(self) -> Class:
        """The most severe class of all steps, or "none"."""
        return SEVERITY[max((severity(step.cls) for step in self.steps), default=0)]

    @property
    def refused(self) -> bool:
        """Whether nothing of this may be done."""
        return self.cls == "refused"

    @property
    def touches_jobs(self) -> bool:
        """Whether a running job has to end before this is done, or would be lost by it."""
        return any(step.touches_jobs for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """The plan as plain values, for `json.dumps`."""
        return {"class": self.cls, "steps": [step.to_json() for step in self.steps]}

    def table(self, width: int = 120) -> str:
        """The plan for people to read."""
        return table(self.steps, width)


def make_step(
    entry: Entry,
    what: str,
    key: str,
    change: Change,
    commands: tuple[str, ...] = (),
    concerned: Concerned = NOBODY,
) -> Step:
    """A step as the table's entry says. Values of secret keys are not shown: a preview masks nothing."""
    old, new = change
    if entry.secret:
        old, new = (None if value is None else HIDDEN for value in change)
    if entry.cls == "reconfigure":
        commands = (RECONFIGURE,)
    return Step(
        entry.cls,
        what,
        key,
        old,
        new,
        entry.reason,
        commands,
        nodesets=concerned.nodesets,
        partitions=concerned.partitions,
        nodes=concerned.nodes,
        touches_jobs=touches_jobs(entry),
        also=entry.also,
    )


def touches_jobs(entry: Entry) -> bool:
    """Whether running jobs have to end before this is done, or before what has to follow on it."""
    return not _TOUCHES_JOBS.isdisjoint((entry.cls, *entry.also))


def written_change(old: Mapping[str, str] | None, new: Mapping[str, str] | None) -> Change:
    """What becomes of a whole line."""
    return None if old is None else written(old), None if new is None else written(new)


def written(fields: Mapping[str, str]) -> str:
    """Fields as they stand in a line of slurm.conf."""
    return " ".join(
        f'{key}="{value}"' if not value or " " in value else f"{key}={value}" for key, value in fields.items()
    )


def summary(text: str | None) -> str | None:
    """Enough to tell two texts apart; what differs is for the diff of the files to show."""
    if text is None:
        return None
    count = len(text.splitlines())
    return f"{count} line{'' if count == 1 else 's'}, sha256 {hashlib.sha256(text.encode()).hexdigest()[:12]}"
