"""What a preview tells `slipway report`: the change as data, in one message of the engine's log.

The lines that people read could not be read back with certainty, and a refused change never gets as far as the stack's
outputs. So a preview that is asked to, by the variable ASKED, says the same in JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from slurm.changes import Plan, Step, plan
from slurm.hidden import without_secrets

ASKED = "SLIPWAY_REPORT"
_MARK = "slipway change: "
_LISTS = ("commands", "nodesets", "partitions", "also")
_FIELDS = frozenset(each.name for each in fields(Step))


@dataclass(frozen=True, slots=True)
class Told:
    """`before` is None at the first deploy. `unreachable` says why nobody in the cluster was asked, if so.
    `running` are the jobs that run now, each with its nodes: a report knows which pods change."""

    before: Mapping[str, str] | None
    after: Mapping[str, str]
    plan: Plan = field(default_factory=Plan)
    waited_for: tuple[str, ...] = ()
    stranded: tuple[str, ...] = ()
    unfinished: bool = False
    unreachable: str = ""
    running: tuple[tuple[str, str], ...] = ()

    def message(self) -> str:
        steps = [asdict(step) for step in self.plan.steps]
        told = {each.name: getattr(self, each.name) for each in fields(self)} | {"plan": steps}
        return _MARK + json.dumps(told)

    @classmethod
    def read(cls, message: str) -> "Told | None":
        """None if this is another message."""
        if not message.startswith(_MARK):
            return None
        told: dict[str, Any] = json.loads(message.removeprefix(_MARK))
        told["plan"] = Plan(tuple(_step(each) for each in told["plan"]))
        for key in ("waited_for", "stranded"):
            told[key] = tuple(told[key])
        told["running"] = tuple((nodes, job) for nodes, job in told.get("running", ()))
        return cls(**told)

    @classmethod
    def between(cls, before: Mapping[str, str] | None, after: Mapping[str, str]) -> "Told":
        """What the files alone tell."""
        return cls(before and _plain(before), _plain(after), plan(before, after))


def _plain(files: Mapping[str, str]) -> dict[str, str]:
    return {name: without_secrets(text, name) for name, text in files.items()}


def _step(told: dict[str, Any]) -> Step:
    known: dict[str, Any] = {key: value for key, value in told.items() if key in _FIELDS}
    for key in _LISTS:
        known[key] = tuple(known[key])
    return Step(**known)
