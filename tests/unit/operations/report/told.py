"""Events as the engine tells them, made by hand for what no recording has."""

from typing import Any

from config import Settings
from operations.report.events import read
from operations.report.model import Report, build
from slurm.changes import plan
from slurm.planning.told import Told
from slurm.render import render
from tests.unit.components.deployed import settings_of

DONE: dict[str, Any] = {"summaryEvent": {"result": "succeeded", "PolicyPacks": {"slipway": "1"}}}


def step(operation: str, kind: str, name: str, old: Any = None, new: Any = None, **more: Any) -> dict[str, Any]:
    """A step of a resource with these inputs."""
    sides = {side: inputs and {"custom": True, "inputs": inputs} for side, inputs in (("old", old), ("new", new))}
    urn = f"urn:pulumi:dev::slipway::{kind}::{name}"
    if "retained" in more:
        sides["old"]["retainOnDelete"] = more.pop("retained")
    return {"resourcePreEvent": {"metadata": {"op": operation, "urn": urn, "type": kind, **sides, **more}}}


def said(message: str, severity: str = "info") -> dict[str, Any]:
    return {"diagnosticEvent": {"message": message, "severity": severity}}


def violation(message: str, level: str = "mandatory", policy: str = "images", resource: str = "dev") -> dict[str, Any]:
    urn = f"urn:pulumi:dev::slipway::a$kubernetes:apps/v1:StatefulSet::{resource}"
    found = {"policyName": policy, "message": f"What it demands.\n{message}", "enforcementLevel": level}
    return {"policyEvent": {**found, "resourceUrn": urn}}


def change(before: Settings, after: Settings, **more: Any) -> dict[str, Any]:
    """What the program tells of a change of the stack config."""
    old, new = render(before), render(after)
    return said(Told(old, new, plan(old, new), **more).message())


def report(*events: dict[str, Any]) -> Report:
    return build("dev", read([*events, DONE]))


def workers(size: int) -> Settings:
    return settings_of(worker={"size": size})
