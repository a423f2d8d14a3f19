"""Every container says what it needs and what it may use at most; workers are sure to get what Slurm hands out."""

from collections.abc import Iterator

from policies.quantities import amount
from policies.reading import WORKER, Resource, Stack, pod_of
from policies.rule import Rule, Settings

NEEDED = ("cpu", "memory")


def check(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    pod = pod_of(resource)
    if pod is None:
        return
    for container in pod.containers:
        stated = container.spec.get("resources") or {}
        requests, limits = stated.get("requests") or {}, stated.get("limits") or {}
        where = f"{pod}, container {container.name}"
        missing = [
            f"{kind}.{what}"
            for kind, amounts in (("requests", requests), ("limits", limits))
            for what in NEEDED
            if amount(amounts.get(what)) is None
        ]
        if missing:
            yield (
                f"{where} does not state {', '.join(missing)}. Set `cpus` and `memory` of its section, or give the "
                "container `resources`: without them one pod can starve all others of its node."
            )
        elif pod.role == WORKER and not _lent(stack, resource, pod.node_set):
            for what in NEEDED:
                if amount(requests[what]) != amount(limits[what]):
                    yield (
                        f"{where} asks for {what} {requests[what]} and may use {limits[what]}: a worker that is not "
                        "Guaranteed loses its jobs when the node runs short. Make request and limit equal."
                    )


def _lent(stack: Stack, resource: Resource, node_set: str) -> bool:
    """Where jobs and pods take turns, a worker that asked for the whole machine would leave none to pods."""
    cluster = stack.cluster_of(resource)
    return cluster is not None and node_set in cluster.lent["nodeSets"]


RULES = [
    Rule(
        name="resources",
        about="Every container has requests and limits, and worker pods are Guaranteed.",
        check=check,
        page="resources.md",
    )
]
