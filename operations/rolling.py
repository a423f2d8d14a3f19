"""Worker pods that have to be replaced: drained, replaced and back, so many at a time as their NodeSet allows.

Kubernetes itself leaves them alone (OnDelete): it knows nothing of jobs."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from operations.draining import STOPPING, drain, owned, release, wait_until_empty
from operations.kubectl import Cluster, ending, name_of, on_lost_machine
from operations.nodes import nodes
from operations.problem import Abandoned, Problem, putting_back
from operations.progress import say, wait
from operations.wishes import Wishes
from slurm.changes import Plan
from slurm.hostlist import Hosts, compress

SEEN_SECONDS = 60
READY_SECONDS = 300
NODE_SET = "slipway/node-set"

Pod = dict[str, Any]


def restart_outdated(wishes: Wishes) -> None:
    """Replace every pod whose NodeSet has another template by now. What ends in between is done by the next run."""
    for node_set, revision in revisions(wishes.cluster).items():
        _restart(wishes, node_set, lambda pod, wanted=revision: outdated(pod, wanted))


def release_stale(cluster: Cluster) -> None:
    """Take drains of pods that were about to be replaced away where they are not: whoever began it was killed, and its
    template is by now what it was before. One that ends, or starts, sees to its own."""
    if stopping := [name for name, node in nodes(cluster).items() if owned(node, STOPPING)]:
        up = {name_of(pod) for pod in cluster.list("pods", NODE_SET) if ready(pod) and not ending(pod)}
        release(cluster, [name for name in stopping if name in up], STOPPING)


def restart_nodes(wishes: Wishes, plan: Plan, since: float) -> None:
    """Replace the pods of nodes whose slurmd has to start anew for this change, unless it has since it began."""
    steps = [step for step in plan.steps if "restart-workers" in (step.cls, *step.also)]
    hosts = Hosts()
    for step in steps:
        # What stands in no line of a node is for all of them, also for those that stand in no file.
        hosts |= Hosts.parse(step.nodes) if step.object.startswith("node ") or step.key == "(devices)" else wishes.nodes
    if not hosts:
        return
    for node_set in sorted({name.rpartition("-")[0] for name in hosts}):
        old = {
            pod["metadata"]["uid"]
            for pod in _pods(wishes.cluster, node_set)
            if name_of(pod) in set(hosts) and _created(pod) < since
        }
        _restart(wishes, node_set, lambda pod, old=old: pod["metadata"]["uid"] in old)


def _restart(wishes: Wishes, node_set: str, due: Callable[[Pod], bool]) -> None:
    cluster = wishes.cluster
    allowed = wishes.max_unavailable.get(node_set, 1)
    reported: set[str] = set()
    while True:
        pods = _pods(cluster, node_set)
        if node_set in wishes.autoscaled:
            # What Slurm has stopped is not away: nobody waits for it, and it has no job.
            known = nodes(cluster)
            stopped = {name for name, node in known.items() if node.stopped}
            pods = [pod for pod in pods if due(pod) or name_of(pod) not in stopped]
        lost = {name_of(pod) for pod in pods if on_lost_machine(pod)}
        if news := {name_of(pod) for pod in pods if due(pod)} & lost - reported:
            say(f"not replaced, as their machines do not answer: {compress(news)}")
            reported |= news
        waiting = [pod for pod in pods if due(pod) and name_of(pod) not in lost]
        if not waiting:
            return
        # One whose slurmd never started has no jobs, and nothing to wait for.
        broken = [name_of(pod) for pod in waiting if not _started(pod)]
        batch = broken or _batch(pods, waiting, max(allowed, len(lost) + 1))
        if not batch:
            down = [name_of(pod) for pod in pods if not ready(pod) and name_of(pod) not in lost]
            _wait_until_back(wishes, node_set, down, {})
            continue
        if not broken:
            say(f"draining {compress(batch)}, to start anew")
            _drain(wishes, batch)
        say(f"replacing {compress(batch)}")
        before = {name_of(pod): pod["metadata"]["uid"] for pod in waiting}
        cluster.kubectl("delete", "pod", "--wait=true", "--timeout=300s", *batch, seconds=330)
        _wait_until_back(wishes, node_set, batch, before)


def _batch(pods: list[Pod], waiting: list[Pod], allowed: int) -> list[str]:
    """As many as may be away together with those that are away already. Of these, the ones that wait come first."""
    away = {name_of(pod) for pod in pods if not ready(pod)}
    batch: list[str] = []
    for pod in sorted(waiting, key=ready):
        if name_of(pod) in away or len(away) < allowed:
            batch.append(name_of(pod))
            away.add(name_of(pod))
    return batch[:allowed]


def _drain(wishes: Wishes, batch: list[str]) -> None:
    """The successor of each pod takes its drain away."""
    cluster = wishes.cluster
    try:
        drain(cluster, batch, STOPPING)
        wait_until_empty(cluster, Hosts.parse(compress(batch)), (), wishes.limits)
    except Abandoned:
        raise
    except Problem as problem:
        with putting_back(problem):
            release(cluster, batch, STOPPING)
        raise


def revisions(cluster: Cluster, selector: str = NODE_SET) -> dict[str, str]:
    """The revision that the pods of each StatefulSet should have. Kubernetes may still be about to see a change."""
    sets: list[dict[str, Any]] = []

    def look() -> str | None:
        sets[:] = cluster.list("statefulsets", selector)
        unseen = [each for each in sets if each["status"].get("observedGeneration") != each["metadata"]["generation"]]
        return f"Kubernetes to look at {', '.join(map(name_of, unseen))}" if unseen else None

    wait(look, SEEN_SECONDS, "Is its controller manager up?", 0.2)
    return {name_of(each): each["status"]["updateRevision"] for each in sets}


def _wait_until_back(wishes: Wishes, node_set: str, batch: list[str], before: dict[str, str]) -> None:
    """In Kubernetes and in Slurm: the next ones are drained only when these serve."""
    cluster, scaled = wishes.cluster, node_set in wishes.autoscaled

    def look() -> str | None:
        pods = {name_of(pod): pod for pod in _pods(cluster, node_set)}
        away = [name for name in batch if name not in pods or pods[name]["metadata"]["uid"] == before.get(name)]
        away += [name for name in batch if name not in away and not ready(pods[name])]
        known = nodes(cluster) if scaled or not away else {}
        if not away:
            away = [name for name in batch if name not in known or not known[name].responds]
        away = [name for name in away if name not in known or not known[name].stopped]
        why = sorted({reason for name in away if name in pods for reason in _held_up(pods[name])})
        because = f" ({', '.join(why)})" if why else ""
        return f"{compress(away)} to be back{because}" if away else None

    wait(look, READY_SECONDS, f"Look at them with: kubectl -n {cluster.namespace} get pods -o wide", 0.5)


def _pods(cluster: Cluster, node_set: str) -> list[Pod]:
    return cluster.list("pods", f"{NODE_SET}={node_set}")


def outdated(pod: Pod, revision: str) -> bool:
    return pod["metadata"]["labels"].get("controller-revision-hash") != revision


def _created(pod: Pod) -> float:
    return datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp()


def _started(pod: Pod) -> bool:
    """Whether slurmd runs, or has run, in this pod."""
    return any(
        each.get("started") or "terminated" in each["state"] | each.get("lastState", {})
        for each in pod["status"].get("containerStatuses", [])
    )


def _held_up(pod: Pod) -> list[str]:
    """What Kubernetes says of containers that do not start, such as ImagePullBackOff."""
    status = pod["status"]
    containers = [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]
    reasons = [each.get("state", {}).get("waiting", {}).get("reason", "") for each in containers]
    return [reason for reason in reasons if reason not in ("", "PodInitializing", "ContainerCreating")]


def ready(pod: Pod) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
