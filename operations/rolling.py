"""Worker pods whose NodeSet has another template by now: drained, replaced and back, so many at a time as allowed.

Kubernetes itself leaves them alone (OnDelete): it knows nothing of jobs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from operations.kubectl import Cluster
from operations.problem import Problem
from operations.progress import say, wait

SEEN_SECONDS = 60
READY_SECONDS = 300

# The pod's successor takes this drain away when it starts.
DRAIN = """
set -e
for node in "$@"; do
    case $(scontrol show node "$node") in
        *DRAIN*) ;;
        *) scontrol update NodeName="$node" State=DRAIN Reason=slipway:stopping ;;
    esac
done
"""
UNDRAIN = """
set -e
for node in "$@"; do
    case $(scontrol show node "$node") in
        *Reason=slipway:stopping*) scontrol update NodeName="$node" State=UNDRAIN ;;
    esac
done
"""


@dataclass(frozen=True)
class Drain:
    """How long jobs are waited for, what happens to them then, and how many nodes of a set may be away at a time."""

    seconds: float
    on_timeout: str
    max_unavailable: Mapping[str, int]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Drain":
        allowed = dict(each.split("=") for each in environment["SLIPWAY_MAX_UNAVAILABLE"].split(",") if each)
        return cls(
            float(environment["SLIPWAY_DRAIN_SECONDS"]),
            environment["SLIPWAY_DRAIN_ON_TIMEOUT"],
            {name: int(number) for name, number in allowed.items()},
        )


def restart_outdated(cluster: Cluster, drain: Drain) -> None:
    """Replace every outdated pod. What ends in between is done by the next run: it looks at the pods again."""
    for node_set, revision in _revisions(cluster).items():
        while outdated := [pod for pod in _pods(cluster, node_set) if _outdated(pod, revision)]:
            # One whose slurmd never started has no jobs, and nothing to wait for.
            broken = [_name(pod) for pod in outdated if not _started(pod)]
            batch = broken or [_name(pod) for pod in outdated][: drain.max_unavailable.get(node_set, 1)]
            if not broken:
                say(f"draining {', '.join(batch)}, whose pods have changed")
                _drain(cluster, batch, drain)
            say(f"replacing {', '.join(batch)}")
            cluster.kubectl("delete", "pod", "--wait=true", "--timeout=300s", *batch, seconds=330)
            _wait_until_ready(cluster, node_set, revision, batch)


def _revisions(cluster: Cluster) -> dict[str, str]:
    """The revision that each NodeSet's pods should have. Kubernetes may still be about to see a change."""
    sets: list[dict[str, Any]] = []

    def look() -> str | None:
        sets[:] = _list(cluster, "statefulsets", "slipway/node-set")
        unseen = [each for each in sets if each["status"].get("observedGeneration") != each["metadata"]["generation"]]
        return f"Kubernetes to look at {', '.join(map(_name, unseen))}" if unseen else None

    wait(look, SEEN_SECONDS, "Is its controller manager up?", 0.2)
    return {_name(each): each["status"]["updateRevision"] for each in sets}


def _drain(cluster: Cluster, nodes: list[str], drain: Drain) -> None:
    done = cluster.controller(DRAIN, *nodes)
    if done.returncode:
        raise Problem(f"slurmctld does not drain {', '.join(nodes)}: {done.stderr.strip()}")
    names = ",".join(nodes)

    def busy() -> str | None:
        shown = cluster.controller('squeue --noheader --nodelist="$1" --states=R,CG,S --format="%A %u"', names)
        if shown.returncode:
            return f"an answer from slurmctld about the jobs on {names}"
        jobs = shown.stdout.splitlines()
        return f"{len(jobs)} jobs on {names}: {'; '.join(jobs[:5])}" if jobs else None

    try:
        wait(busy, drain.seconds, "", 1.0)
    except Problem as problem:
        if drain.on_timeout == "fail":
            cluster.controller(UNDRAIN, *nodes)
            way_out = "Wait for them, or set drain.timeout, or drain.onTimeout to requeue or cancel."
            raise Problem(f"{str(problem).strip()}\nNothing was done to them. {way_out}") from None
        verb = {"requeue": "scontrol requeue", "cancel": "scancel"}[drain.on_timeout]
        say(f"{drain.on_timeout}: what still runs on {names}")
        cluster.controller(f'for job in $(squeue -h -w "$1" -t R,S -o %A); do {verb} "$job"; done', names)


def _wait_until_ready(cluster: Cluster, node_set: str, revision: str, batch: list[str]) -> None:
    def look() -> str | None:
        pods = {_name(pod): pod for pod in _pods(cluster, node_set)}
        away = [name for name in batch if name not in pods or _outdated(pods[name], revision) or not _ready(pods[name])]
        return f"{', '.join(away)} to be back" if away else None

    wait(look, READY_SECONDS, f"Look at them with: kubectl -n {cluster.namespace} get pods -o wide", 0.5)


def _list(cluster: Cluster, kind: str, selector: str) -> list[dict[str, Any]]:
    shown = cluster.kubectl("get", kind, "--selector", selector, "--output", "json")
    if shown.returncode:
        raise Problem(f"Kubernetes does not tell its {kind}: {shown.stderr.strip()}")
    return json.loads(shown.stdout)["items"]


def _pods(cluster: Cluster, node_set: str) -> list[dict[str, Any]]:
    return _list(cluster, "pods", f"slipway/node-set={node_set}")


def _name(thing: dict[str, Any]) -> str:
    return thing["metadata"]["name"]


def _outdated(pod: dict[str, Any], revision: str) -> bool:
    return pod["metadata"]["labels"].get("controller-revision-hash") != revision


def _started(pod: dict[str, Any]) -> bool:
    """Whether slurmd runs, or has run, in this pod."""
    return any(
        not {"running", "terminated"}.isdisjoint(each["state"] | each.get("lastState", {}))
        for each in pod["status"].get("containerStatuses", [])
    )


def _ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
