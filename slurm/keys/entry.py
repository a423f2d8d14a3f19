"""One entry of the table of changes: what a running cluster needs when a key gets another value, and why."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from slurm.keys.values import text

Class = Literal[
    "none",
    "live",
    "reconfigure",
    "restart-slurmdbd",
    "restart-controller",
    "restart-workers",
    "drain-first",
    "refused",
]

# From harmless to impossible. slurmctld keeps records while slurmdbd is away, and is itself back in seconds: no job
# notices. Restarting workers takes each of them out of service once, when its jobs have ended. What must be drained
# first waits for all of its jobs at once. What is refused would lose state, or means nothing to Slurm.
SEVERITY: tuple[Class, ...] = (
    "none",
    "live",
    "reconfigure",
    "restart-slurmdbd",
    "restart-controller",
    "restart-workers",
    "drain-first",
    "refused",
)

# In which order the steps of a plan are carried out. If anything is refused, nothing else is done. What has to be empty
# is emptied before Slurm hears of the change. slurmdbd comes before slurmctld, as Slurm asks for. Live updates are done
# at once. Other restarts come last: daemons that start read the new files anyway.
EXECUTION: tuple[Class, ...] = (
    "refused",
    "drain-first",
    "restart-slurmdbd",
    "live",
    "reconfigure",
    "restart-controller",
    "restart-workers",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a change of one key takes.

    `same_if` gives equal results for values that mean the same to Slurm. `default` is the value that Slurm uses where
    the key is absent. `update` is what `scontrol update` calls it, where that is not its name, and `cleared` the value
    that takes it back to its default ("" is a value too; None: only a reconfigure does). `also` names classes of work
    that have to follow, because further daemons have to learn of it. `secret` values are never shown. `options` holds
    the parts of a key that differ from the whole."""

    cls: Class
    reason: str
    same_if: Callable[[str], Hashable] = text
    default: str | None = None
    update: str = ""
    cleared: str | None = None
    also: tuple[Class, ...] = ()
    secret: bool = False
    options: Mapping[str, "Entry"] = field(default_factory=dict)

    def same(self, old: str | None, new: str | None) -> bool:
        """Whether Slurm would not notice the difference."""
        old, new = (self.default if value is None else value for value in (old, new))
        if old is None or new is None:
            return old is new
        return old == new or self.same_if(old) == self.same_if(new)


Table = Mapping[str, Entry]
Kind = Callable[[str], Hashable]


def live(
    reason: str, same_if: Kind = text, default: str | None = None, update: str = "", cleared: str | None = None
) -> Entry:
    """A change of the running controller's records."""
    return Entry("live", reason, same_if, default, update=update, cleared=default if cleared is None else cleared)


def reconfigure(reason: str, same_if: Kind = text, default: str | None = None, secret: bool = False) -> Entry:
    """A change that `scontrol reconfigure` brings to all daemons."""
    return Entry("reconfigure", reason, same_if, default, secret=secret)


def restart_slurmdbd(reason: str, same_if: Kind = text, default: str | None = None, secret: bool = False) -> Entry:
    """A change that slurmdbd reads only when it starts."""
    return Entry("restart-slurmdbd", reason, same_if, default, secret=secret)


def restart_controller(
    reason: str, same_if: Kind = text, default: str | None = None, also: tuple[Class, ...] = (), secret: bool = False
) -> Entry:
    """A change that a daemon of the control plane reads only when it starts."""
    return Entry("restart-controller", reason, same_if, default, also=also, secret=secret)


def restart_workers(
    reason: str, same_if: Kind = text, default: str | None = None, also: tuple[Class, ...] = ()
) -> Entry:
    """A change that slurmd reads only when it starts; its pod holds its jobs, so each worker is drained in its turn."""
    return Entry("restart-workers", reason, same_if, default, also=also)


def drain_first(reason: str, same_if: Kind = text, default: str | None = None, also: tuple[Class, ...] = ()) -> Entry:
    """A change that would cost running jobs, so none may be left where it applies."""
    return Entry("drain-first", reason, same_if, default, also=also)


def refused(reason: str, same_if: Kind = text, default: str | None = None) -> Entry:
    """A change that no order of steps makes safe."""
    return Entry("refused", reason, same_if, default)
