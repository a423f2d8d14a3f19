"""What a reviewer must not overlook: what goes, what restarts, and whose jobs are concerned."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from operations.report.events import Preview, Resource
from operations.report.resources import kind
from operations.report.words import Code, Words, count, names
from slurm.hostlist import Hosts
from slurm.planning.told import Told

_DATA = {
    "PersistentVolumeClaim": "with the files that are stored in it",
    "PersistentVolume": "with the files that are stored in it",
    "Namespace": "with everything that is in it",
    "Secret": "with the keys that are in it",
}
Running = tuple[tuple[str, str], ...]

_WORKLOADS = ("StatefulSet", "Deployment", "DaemonSet")


@dataclass(frozen=True)
class Finding:
    """`short` is for the verdict, `text` says it in full, and `details` are quoted one by one."""

    short: str
    text: Words
    details: tuple[str, ...] = ()


def findings(preview: Preview) -> Iterator[Finding]:
    """The gravest first."""
    told = preview.told
    if told:
        yield from _jobs(told)
    yield from _deletes(preview.resources)
    yield from _replaces(preview.resources)
    if told:
        yield from _drains(told)
    yield from _restarts(preview, told)
    if told:
        yield from _doubts(told, any(_restarted(each) for each in preview.resources))


def _jobs(told: Told) -> Iterator[Finding]:
    if told.waited_for:
        jobs = count(len(told.waited_for), "running job")
        is_waited = "is" if len(told.waited_for) == 1 else "are"
        yield Finding(f"{jobs} {is_waited} waited for", (f"{jobs} {is_waited} waited for first.",), told.waited_for)
    if told.stranded:
        jobs = count(len(told.stranded), "job")
        wait = "waits" if len(told.stranded) == 1 else "wait"
        text = f"{jobs} in the queue {wait} for what will not be there any more. Only an owner can change that."
        yield Finding(f"{jobs} can never start", (text,), told.stranded)


def _deletes(resources: list[Resource]) -> Iterator[Finding]:
    gone = [each for each in resources if each.operation == "delete" and not each.retained]
    if gone:
        short = f"{count(len(gone), 'resource')} deleted"
        yield Finding(short, ("Deleted:",), tuple(_with_data(each) for each in gone))
    left = [each for each in resources if each.operation == "delete" and each.retained]
    if left:
        text = "No longer in the stack, but left in the cluster:"
        yield Finding("", (text,), tuple(f"{kind(each)} {each.name}" for each in left))


def _replaces(resources: list[Resource]) -> Iterator[Finding]:
    replaced = [each for each in resources if each.operation == "replace"]
    # A Job never changes, so that every change of it is another one: nothing is lost by that.
    other = [each for each in replaced if kind(each) != "Job"]
    if other:
        details = tuple(f"{_with_data(each)}, because of {', '.join(each.reasons) or 'its provider'}" for each in other)
        yield Finding(f"{count(len(other), 'resource')} replaced", ("Deleted and made anew:",), details)
    for each in replaced:
        if kind(each) == "Job":
            yield Finding("", ("Runs again: ", Code(each.name), "."))


def _with_data(resource: Resource) -> str:
    named = f"{kind(resource)} {resource.name}"
    return f"{named}, {_DATA[kind(resource)]}" if kind(resource) in _DATA else named


def _drains(told: Told) -> Iterator[Finding]:
    for step in told.plan.steps:
        if step.cls == "drain-first":
            what = step.nodes or step.object
            yield Finding(f"drains {what}", ("Drains ", Code(what), f" first. {step.reason}"))


def _restarts(preview: Preview, told: Told | None) -> Iterator[Finding]:
    """By what the plan says of Slurm's files, and by the pods whose templates change."""
    classes = {cls for step in (told.plan.steps if told else ()) for cls in (step.cls, *step.also)}
    pods = [each for each in preview.resources if _restarted(each)]
    others = {_role(each): each.name for each in pods if not _node_set(each)}
    if others.pop("controller", None) or "restart-controller" in classes:
        yield Finding("slurmctld restarts", ("slurmctld restarts: jobs go on, and commands wait for some seconds.",))
    sets = [_node_set(each) for each in pods if _node_set(each)]
    if sets or "restart-workers" in classes:
        yield _workers(sets, _at_once(preview.resources), told.running if told else ())
    if others.pop("login", None):
        yield Finding("login pods restart", ("The login pods restart: ssh sessions end.",))
    for role, name in sorted(others.items()):
        yield Finding(f"{role} restarts", ("The pods of ", Code(name), " restart."))


def _workers(sets: list[str], at_once: dict[str, str], running: Running) -> Finding:
    jobs = tuple(job for nodes, job in running if not sets or _stems(nodes) & set(sets))
    waited = f", {count(len(jobs), 'running job')} waited for" if jobs else ""
    if not sets:
        text = "Every worker is drained, restarted and resumed in its turn."
        return Finding(f"workers restart{waited}", (text,), jobs)
    limits = [f"{name}: at most {at_once[name]} at a time" for name in sets if name in at_once]
    turn = " are drained, replaced and resumed in their turn: each waits for its own running jobs first."
    text = ("The pods of ", *names(sorted(sets)), turn)
    return Finding(f"pods of {', '.join(sorted(sets))} replaced{waited}", text, (*limits, *jobs))


def _stems(nodes: str) -> set[str]:
    """The NodeSets that nodes belong to, by their names."""
    return {key.prefix.rstrip("-") for key in Hosts.parse(nodes).spans}


def _restarted(resource: Resource) -> bool:
    """Whether an update changes the pods of a workload, and not only their number."""
    if kind(resource) not in _WORKLOADS or resource.operation != "update":
        return False
    old, new = ((side.get("spec") or {}).get("template") for side in (resource.old, resource.new))
    return old != new


def _role(resource: Resource) -> str:
    return _labels(resource).get("app.kubernetes.io/name", resource.name)


def _node_set(resource: Resource) -> str:
    return _labels(resource).get("slipway/node-set", "")


def _labels(resource: Resource) -> dict[str, str]:
    return (resource.new.get("metadata") or {}).get("labels") or {}


def _at_once(resources: list[Resource]) -> dict[str, str]:
    """How many workers of each NodeSet may be away at a time, as the command that replaces them is told."""
    for each in resources:
        environment: Any = each.new.get("environment")
        if isinstance(environment, dict) and isinstance(text := environment.get("SLIPWAY_MAX_UNAVAILABLE"), str):
            return dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    return {}


def _doubts(told: Told, pods: bool) -> Iterator[Finding]:
    if told.unfinished:
        yield Finding("", ("An update before this one did not end: its drains and files are put right.",))
    if told.unreachable and told.before is not None:
        text = "The cluster did not answer: this is by the last deploy alone, and running jobs are not known."
        matters = told.plan.touches_jobs or pods
        yield Finding("running jobs are not known" if matters else "", (text,), (told.unreachable,))
