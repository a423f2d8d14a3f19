"""A report as data: what is said, in the order in which it is read. Layouts only lay it out."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from operations.report import cluster, resources
from operations.report.attention import Finding, findings
from operations.report.cluster import Comparison
from operations.report.events import Preview, Violation
from operations.report.words import Code, Words, count, each_text, prose
from slurm.changes import Step

Mark = Literal["stop", "attention", "fine"]

_NOTHING_RESTARTS = {
    "none": "Slurm stays as it is",
    "live": "changed live: nothing restarts, and jobs go on",
    "reconfigure": "one reconfigure: daemons read their files anew, and jobs go on",
}
_CONTEXT = 2


@dataclass(frozen=True)
class Text:
    """A text of several lines under a title: a diff, or what a program said."""

    title: str
    lines: tuple[str, ...]
    more: int = 0  # lines that are not shown


@dataclass(frozen=True)
class ResourceDiff:
    operation: str
    kind: str
    name: str
    lines: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True)
class Rule:
    """A rule that is broken: what it demands, and where it is not so."""

    mandatory: bool
    policy: str
    demands: Words
    broken: tuple[Words, ...]


@dataclass(frozen=True)
class Report:
    stack: str
    mark: Mark
    verdict: Words
    counts: str
    attention: tuple[Finding, ...]
    errors: tuple[Text, ...]
    comparisons: tuple[Comparison, ...]
    files: tuple[Text, ...]
    plan: tuple[Step, ...]
    plan_class: str
    rules: tuple[Rule, ...]
    policy: str
    warnings: tuple[Text, ...]
    resources: tuple[ResourceDiff, ...]
    left_out: tuple[str, ...] = ()

    @property
    def breaks_rules(self) -> bool:
        return any(each.mandatory for each in self.rules)

    @property
    def passed(self) -> bool:
        return self.mark != "stop"


def build(stack: str, preview: Preview) -> Report:
    """What was told to be secret is not repeated by chance either."""
    return each_text(_build(stack, preview), preview.secrets.hide_known)


def _build(stack: str, preview: Preview) -> Report:
    found = tuple(findings(preview))
    told = preview.told
    refused = bool(told and told.plan.refused)
    mark, verdict = _verdict(preview, found)
    return Report(
        stack,
        mark,
        verdict,
        _counts(preview),
        # Nothing of a refused change will be done.
        () if refused else found,
        # That it is refused, and why, is what the plan says.
        () if refused else tuple(Text("", tuple(each.splitlines())) for each in preview.errors),
        (cluster.node_sets(told.before, told.after), cluster.partitions(told.before, told.after)) if told else (),
        tuple(_files(preview)),
        told.plan.steps if told else (),
        told.plan.cls if told else "none",
        tuple(_rules(preview.violations)),
        _policy(preview),
        tuple(Text("", tuple(each.splitlines())) for each in preview.warnings),
        tuple(
            ResourceDiff(each.operation, resources.kind(each), each.name, tuple(resources.lines(each)))
            for each in resources.ordered(preview.resources)
        ),
    )


def _verdict(preview: Preview, found: tuple[Finding, ...]) -> tuple[Mark, Words]:
    told = preview.told
    mandatory = sum(each.mandatory for each in preview.violations)
    if told and told.plan.refused:
        keys = [Code(f"{step.object} {step.key}") for step in told.plan.steps if step.cls == "refused"]
        more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
        return "stop", ("refused: ", keys[0], more, " cannot change on a running cluster. Nothing will be done.")
    if mandatory:
        return "stop", (f"stopped by {count(mandatory, 'mandatory policy violation')}. Nothing will be done.",)
    if preview.errors or not preview.ended:
        return "stop", ("the preview failed. Nothing will be done.",)
    if not preview.resources and not (told and told.plan.steps):
        return "fine", ("no changes.",)
    if told and told.before is None:
        return "fine", ("the first deploy: everything is made anew.",)
    if short := [each.short for each in found if each.short]:
        more = f", and {count(len(short) - 3, 'more thing')}" if len(short) > 3 else ""
        return "attention", (f"needs attention: {', '.join(short[:3])}{more}.",)
    return "fine", (f"{_NOTHING_RESTARTS.get(told.plan.cls, 'nothing restarts') if told else 'nothing restarts'}.",)


def _counts(preview: Preview) -> str:
    words = {"create": "to create", "update": "to update", "replace": "to replace", "delete": "to delete"}
    totals: dict[str, int] = {}
    for each in preview.resources:
        totals[each.operation] = totals.get(each.operation, 0) + 1
    parts = [
        f"{totals[each]} {words.get(each, each)}"
        for each in sorted(totals, key=lambda each: [*words, each].index(each))
    ]
    return f"Resources: {', '.join([*parts, f'{preview.same} unchanged'])}."


def _files(preview: Preview) -> list[Text]:
    if not preview.told:
        return []
    before, after = preview.told.before or {}, preview.told.after
    found = []
    for name in sorted({*before, *after}):
        old, new = (side.get(name, "").splitlines() for side in (before, after))
        lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=_CONTEXT, lineterm="")
        if shown := tuple(lines):
            found.append(Text(name, shown))
    return found


def _rules(violations: list[Violation]) -> Iterator[Rule]:
    found: dict[tuple[bool, str, str], list[Words]] = {}
    for each in sorted(violations, key=lambda each: (not each.mandatory, each.policy, each.resource)):
        # Messages that name the resource themselves need not be told of which one they are.
        where: Words = (Code(each.resource), ": ") if each.resource and each.resource not in each.message else ()
        found.setdefault((not each.mandatory, each.policy, each.rule), []).append((*where, *prose(each.message)))
    for (advisory, policy, demands), broken in found.items():
        yield Rule(not advisory, policy, prose(demands), tuple(broken))


def _policy(preview: Preview) -> str:
    if not preview.packs and not preview.violations:
        return "No policy pack was run."
    mandatory = sum(each.mandatory for each in preview.violations)
    advisory = len(preview.violations) - mandatory
    checked = f"{count(len(preview.rules), 'rule')} checked: " if preview.rules else ""
    early = " The preview ended early, so that not everything was checked." if preview.errors else ""
    if not preview.violations:
        return f"{checked}no violations.{early}"
    return f"{checked}{mandatory} mandatory and {count(advisory, 'advisory violation')}.{early}"
