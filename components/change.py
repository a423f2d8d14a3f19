"""What this run changes: found out before any resource is made, shown in the preview, stopped where it is refused."""

import difflib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_command import local

from components import monitoring
from config import Settings
from slurm.accounts import account_steps, declared
from slurm.changes import Plan, Step, plan
from slurm.hidden import without_secrets
from slurm.hostlist import Hosts
from slurm.moves import moves, places
from slurm.new_key import auth_key, new_key, new_token_key, token_key
from slurm.nodes import names
from slurm.planning.cluster import Cluster
from slurm.planning.told import ASKED, Told
from slurm.render import render

Files = Mapping[str, str]

READS, READ_PAUSE = 20, 0.1


@dataclass(frozen=True)
class Change:
    """`shrinking` NodeSets lose nodes. `repairs` counts how often a run has found an unfinished one before it: with
    another number the commands run, though nothing else about them has changed. `running`: there is a cluster already.
    `kinds` of objects are there that not every cluster has, and that this one is asked for."""

    shrinking: frozenset[str] = frozenset()
    repairs: int = 0
    kinds: tuple[str, ...] = ()
    running: bool = False


def find(settings: Settings) -> Change:
    """Compare with the last deploy, as the stack's own outputs and the cluster tell of it. RunError if refused."""
    files = render(settings)
    last = _last_outputs()
    seen = _look(files, {**environment(settings), **_kinds_asked(settings)})
    kinds = _kinds(settings, seen, last)
    if not last and not seen.get("applied"):
        _tell(Told(None, _plain(files)))
        return Change(kinds=kinds)
    # After a failed or killed update the cluster knows better than the outputs of the last one that went well.
    before: Files | None = seen.get("applied") or last.get("files")
    known: Mapping[str, Any] = last.get("deployed") or {}
    steps = plan(before, files).steps
    moved = moves(known.get("places") or {}, places(settings))
    keys = new_key(known.get("key"), auth_key(settings), bool(steps))
    tokens = new_token_key(known.get("tokenKey"), token_key(settings))
    planned = Plan((*moved, *keys, *steps, *tokens, *_accounts(settings, known, seen)))
    told = _told(before, files, planned, seen)
    _tell(told)
    if planned.refused:
        steps = [step for step in planned.steps if step.cls == "refused"]
        raise pulumi.RunError(f"This change is refused, and nothing was done:\n\n{Plan(tuple(steps)).table()}")
    if pulumi.runtime.is_dry_run() and ASKED not in os.environ:
        _show(told)
    repairs = int(known.get("repairs") or 0) + bool(seen.get("unfinished"))
    return Change(_shrinking(settings, before or {}), repairs, kinds, running=True)


def _kinds_asked(settings: Settings) -> dict[str, str]:
    """Only who wants to know costs the preview a question."""
    return {"SLIPWAY_API": monitoring.API} if "auto" in monitoring.wanted(settings).values() else {}


def _kinds(settings: Settings, seen: Mapping[str, Any], last: Mapping[str, Any]) -> tuple[str, ...]:
    """Of the kinds that are taken `auto`, those that the cluster has. Where it does not tell, what the last update
    found still holds: an API server that is away for a moment is no reason to take objects away."""
    asked = [kind for kind, wish in monitoring.wanted(settings).items() if wish == "auto"]
    if not asked:
        return ()
    told = seen.get("kinds")
    if told is None:
        told = (last.get("deployed") or {}).get("kinds") or ()
        pulumi.log.info(
            f"Kubernetes does not tell whether it has {' and '.join(asked)}: taken as at the last update "
            f"({', '.join(told) or 'none'}). `monitoring.podMonitor` and `monitoring.rules` can say so themselves."
        )
    return tuple(sorted(kind for kind in asked if kind in told))


def _accounts(settings: Settings, known: Mapping[str, Any], seen: Mapping[str, Any]) -> tuple[Step, ...]:
    """What becomes of accounts and QoS. Without accounting they stay, in a database that nobody asks."""
    if not settings.accounting.enabled:
        return ()
    before = seen.get("accounts") or known.get("accounts") or {}
    return account_steps(before, declared(settings), settings.cluster.name)


def environment(settings: Settings) -> dict[str, str]:
    """What the commands are told of the cluster, beside its files."""
    sets = settings.all_node_sets
    limit = settings.drain.timeout.seconds
    return {
        "SLIPWAY_NAMESPACE": settings.cluster.namespace,
        "SLIPWAY_NODES": ",".join(names(name, each.size) for name, each in sets.items() if each.size),
        "SLIPWAY_AUTOSCALED": ",".join(name for name, each in sets.items() if each.autoscale),
        "SLIPWAY_DOMAIN": f"{settings.cluster.namespace}.svc.{settings.cluster.domain}",
        "SLIPWAY_MAX_UNAVAILABLE": ",".join(
            f"{name}={each.max_unavailable.of(each.size)}" for name, each in sets.items()
        ),
        "SLIPWAY_DRAIN_SECONDS": "inf" if limit is None else str(limit),
        "SLIPWAY_DRAIN_ON_TIMEOUT": settings.drain.on_timeout,
        **({"SLIPWAY_BACKUP": "yes"} if settings.controller.backup else {}),
        **({"SLIPWAY_HEALTH": "yes"} if settings.health.enabled else {}),
    }


def _shrinking(settings: Settings, before: Files) -> frozenset[str]:
    """NodeSets that had more nodes in these files than they shall have."""
    had = Cluster.read(before).hosts
    keep = {name: Hosts.parse(names(name, each.size)) for name, each in settings.all_node_sets.items()}
    return frozenset(
        name for name, hosts in keep.items() if any(key.prefix == f"{name}-" for key in (had - hosts).spans)
    )


def _last_outputs() -> Mapping[str, Any]:
    """The outputs of the last update that went well. Not by a StackReference: its answer would come too late."""
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    for left in reversed(range(READS)):
        try:
            found = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": name}).value
            return (found or {}).get("outputs") or {}
        except Exception as problem:
            # A backend of files may be about to write the very state that is read, since the engine runs already.
            if not left:
                raise pulumi.RunError(f"The last state of stack {name} cannot be read: {problem}") from None
            time.sleep(READ_PAUSE)
    return {}


def _look(files: Files, environment: Mapping[str, str]) -> Mapping[str, Any]:
    """What the running cluster tells; nothing, where nobody answers."""
    answer = local.run(
        command="operations/run look",
        environment={**environment, **({ASKED: "1"} if ASKED in os.environ else {})},
        stdin=json.dumps(dict(files)),
        logging=local.Logging.NONE,
        add_previous_output_in_env=False,
    )
    return json.loads(answer.stdout or "{}")


def _told(before: Files | None, files: Files, planned: Plan, seen: Mapping[str, Any]) -> Told:
    return Told(
        _plain(before or {}),
        _plain(files),
        planned,
        tuple(seen.get("waitedFor") or ()),
        tuple(seen.get("stranded") or ()),
        bool(seen.get("unfinished")),
        seen.get("unreachable", ""),
        tuple((nodes, job) for nodes, job in seen.get("running") or ()),
    )


def _plain(files: Files) -> Files:
    return {name: without_secrets(text, name) for name, text in files.items()}


def _tell(told: Told) -> None:
    """To `slipway report`, which asks for data in place of the lines that people read."""
    if pulumi.runtime.is_dry_run() and ASKED in os.environ:
        pulumi.log.info(told.message())


def _show(told: Told) -> None:
    before = told.before or {}
    for name in sorted({*before, *told.after}):
        if difference := diff(name, before.get(name, ""), told.after.get(name, "")):
            pulumi.log.info(f"{name}\n{difference}")
    if told.plan.steps:
        pulumi.log.info(f"What this does to the running cluster ({told.plan.cls}):\n{told.plan.table()}")
    if told.waited_for:
        pulumi.log.warn(f"{len(told.waited_for)} running jobs are waited for first:\n" + "\n".join(told.waited_for))
    if told.stranded:
        pulumi.log.warn(
            f"{len(told.stranded)} jobs wait for what will not be there any more:\n" + "\n".join(told.stranded)
        )
    if told.unfinished:
        pulumi.log.info("An update before this one did not end: its drains and files are put right.")
    if told.unreachable and before:
        pulumi.log.info(f"The cluster does not answer, so that this is by the last deploy alone: {told.unreachable}")


def diff(name: str, before: str, after: str) -> str:
    """A unified diff, as reviewers read it."""
    old, new = (without_secrets(text, name).splitlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=2, lineterm="")
    return "\n".join(lines)


def deployed(settings: Settings, change: Change) -> dict[str, Any]:
    """What the next run wants to know of this one, beside the files."""
    known: dict[str, Any] = {"places": places(settings), "repairs": change.repairs, "key": auth_key(settings)}
    if settings.rest.enabled:
        known["tokenKey"] = token_key(settings)
    if settings.accounting.enabled:
        known["accounts"] = declared(settings)
    return known | ({"kinds": list(change.kinds)} if change.kinds else {})
