"""The engine's log of a preview, read: one JSON object a line, each an event of one kind."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from operations.problem import Problem
from operations.report.secrets import Secrets
from slurm.planning.told import Told

STACK = "pulumi:pulumi:Stack"
_FAILED = "preview failed"  # what the engine adds below the errors that tell why


@dataclass(frozen=True)
class Resource:
    """What becomes of one resource: create, update, replace, delete, or another word of the engine's."""

    operation: str
    kind: str
    name: str
    old: dict[str, Any]
    new: dict[str, Any]
    reasons: tuple[str, ...] = ()  # the properties that make it a replacement
    retained: bool = False  # a delete leaves it in the cluster
    changed: tuple[str, ...] = ()  # the properties that the provider says differ


@dataclass(frozen=True)
class Violation:
    mandatory: bool
    policy: str
    rule: str  # what it demands
    message: str
    resource: str  # its kind and name, or nothing for a rule about the stack


@dataclass
class Preview:
    """All that a preview told, without secrets."""

    resources: list[Resource] = field(default_factory=list)
    same: int = 0
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    packs: list[str] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)
    told: Told | None = None
    ended: bool = False  # the engine came to a result, and it was a good one
    secrets: Secrets = field(default_factory=Secrets)


def parse(lines: Iterable[str], source: str) -> list[dict[str, Any]]:
    """The events of a log. A last line that was cut short is left out: it tells nothing any more."""
    found: list[dict[str, Any]] = []
    broken = 0
    for number, line in enumerate(lines, 1):
        if broken:
            raise Problem(f"{source} line {broken}: is no event of the engine. Name a file that `--save-events` wrote.")
        try:
            event = json.loads(line)
        except ValueError:
            broken = number
            continue
        if not isinstance(event, dict):
            raise Problem(f"{source} line {number}: is no event of the engine. Name a file that `--save-events` wrote.")
        found.append(event)
    return found


def read(events: Iterable[dict[str, Any]]) -> Preview:
    preview = Preview()
    steps: dict[str, list[dict[str, Any]]] = {}
    files: dict[str, Any] = {}
    for event in events:
        if diagnostic := event.get("diagnosticEvent"):
            _diagnostic(preview, diagnostic)
        elif violation := event.get("policyEvent"):
            _violation(preview, violation)
        elif step := (event.get("resourcePreEvent") or event.get("resOutputsEvent") or {}).get("metadata"):
            if step["type"] == STACK:
                files |= _outputs(step)
            elif "resourcePreEvent" in event:
                steps.setdefault(step["urn"], []).append(step)
        elif summary := event.get("summaryEvent"):
            preview.ended = summary.get("result", "succeeded") == "succeeded"
            preview.packs = sorted(name.partition("|")[0] for name in summary.get("PolicyPacks") or {})
        for kind in ("policyAnalyzeSummaryEvent", "policyAnalyzeStackSummaryEvent"):
            checked = event.get(kind) or {}
            preview.rules.update(checked.get("passed") or [], checked.get("failed") or [])
    for found in steps.values():
        _resource(preview, found)
    if preview.told is None and files.get("new"):
        # A log that was not made for a report: the stack's outputs tell the files, if the program got as far.
        preview.told = Told.between(files.get("old"), files["new"])
    # Last, when all secrets are known; and before anything is cut into lines.
    preview.errors, preview.warnings = (
        [preview.secrets.scrub(each) for each in said] for said in (preview.errors, preview.warnings)
    )
    preview.violations = [replace(each, message=preview.secrets.scrub(each.message)) for each in preview.violations]
    return preview


def _diagnostic(preview: Preview, event: dict[str, Any]) -> None:
    message = event.get("message", "").strip()
    if told := Told.read(message):
        preview.told = told
    elif not message or event.get("ephemeral"):
        return
    elif event.get("severity") == "error" and message != _FAILED and message not in preview.errors:
        preview.errors.append(message)
    elif event.get("severity") == "warning" and message not in preview.warnings:
        preview.warnings.append(message)


def _violation(preview: Preview, event: dict[str, Any]) -> None:
    urn = event.get("resourceUrn", "")
    about = "" if f"::{STACK}::" in urn or not urn else f"{_kind(urn.split('::')[-2].split('$')[-1])} {_name(urn)}"
    mandatory = event.get("enforcementLevel") in ("mandatory", "remediate")
    # The engine puts the rule's own description before what was found.
    rule, _, message = _bare(event.get("message", "")).partition("\n")
    found = Violation(mandatory, event.get("policyName", ""), rule, message.strip(), about)
    if found not in preview.violations:
        preview.violations.append(found)


def _bare(message: str) -> str:
    """Without the marks for colours that the engine leaves in."""
    for mark in ("<{%reset%}>", "<{%fg 1%}>", "<{%fg 2%}>", "<{%fg 3%}>"):
        message = message.replace(mark, "")
    return message.strip()


def _outputs(step: dict[str, Any]) -> dict[str, Any]:
    """The files in the stack's outputs, before and after, as far as this event has them."""
    sides = {side: ((step.get(side) or {}).get("outputs") or {}).get("files") for side in ("old", "new")}
    return {
        side: files
        for side, files in sides.items()
        if isinstance(files, dict) and all(isinstance(text, str) for text in files.values())
    }


def _resource(preview: Preview, steps: list[dict[str, Any]]) -> None:
    operations = [step["op"] for step in steps]
    operation = "replace" if any("replace" in each for each in operations) else operations[-1]
    states = [step.get(side) or {} for step in steps for side in ("old", "new")]
    if operation == "same" or not any(state.get("custom") for state in states):
        preview.same += operation == "same" and any(state.get("custom") for state in states)
        return
    kind = steps[0]["type"]
    # Of a replacement, the steps that delete have only the old state and those that create may have only the new one.
    old, new = (next((step[side] for step in steps if step.get(side)), {}) for side in ("old", "new"))
    preview.resources.append(
        Resource(
            operation,
            kind,
            _name(steps[0]["urn"]),
            preview.secrets.plain(kind, old.get("inputs") or {}) if operation != "create" else {},
            preview.secrets.plain(kind, new.get("inputs") or {}) if operation != "delete" else {},
            tuple(dict.fromkeys(key for step in steps for key in step.get("keys") or [])),
            bool(old.get("retainOnDelete")),
            tuple(dict.fromkeys(key for step in steps for key in step.get("detailedDiff") or step.get("diffs") or ())),
        )
    )


def _name(urn: str) -> str:
    return urn.rsplit("::", 1)[-1]


def _kind(token: str) -> str:
    """`StatefulSet` of `kubernetes:apps/v1:StatefulSet`."""
    return token.rsplit(":", 1)[-1]
