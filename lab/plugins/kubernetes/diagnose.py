"""Why an object is not ready, from its events, its pods and their logs: what one would look up with kubectl."""

from collections.abc import Iterator

from lab.plugins.kubernetes import pods
from lab.plugins.kubernetes.client import ApiError, Unreachable
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.discovery import EVENTS, PODS, REPLICA_SETS
from lab.plugins.kubernetes.objects import Object, dig, group_of, items_of, kind_of, name_of, namespace_of
from lab.plugins.kubernetes.readiness_workloads import WORKLOADS

_MOST_PODS = 5
_MOST_EVENTS = 3
_LOG_LINES = 10


def explain(cluster: Cluster, obj: Object) -> list[str]:
    """Lines that tell what is wrong, most telling first; empty if nothing can be found out."""
    lines: list[str] = []
    for part in (_pod_lines, _event_lines, _replica_set_lines):
        try:
            for line in part(cluster, obj):
                if not _is_said(line, lines):
                    lines.append(line)
        except (ApiError, Unreachable):
            continue  # not allowed to look, or gone meanwhile: the other parts may still help
    return lines


def _is_said(line: str, lines: list[str]) -> bool:
    """Whether an event only repeats what the state of the pod says already."""
    if not line.lstrip().startswith("event "):
        return False
    message = line.partition(": ")[2].removeprefix("Error: ")
    return any(message in other or other.rpartition(": ")[2] in message for other in lines if other.rpartition(": ")[2])


def _pod_lines(cluster: Cluster, obj: Object) -> Iterator[str]:
    found = _pods_of(cluster, obj)
    if not found and kind_of(obj) == "Service" and (selector := dig(obj, "spec", "selector")):
        yield f"no pod has the labels {', '.join(f'{key}={value}' for key, value in selector.items())}"
    unready = [pod for pod in found if pods.state(pod)]
    for pod in unready[:_MOST_PODS]:
        yield f"pod {name_of(pod)}: {pods.state(pod)}"
        yield from _crash_lines(cluster, pod)
        if pod is not obj and not any(pods.has_crashed(container) for container in pods.containers(pod)):
            yield from _event_lines(cluster, pod)
    if len(unready) > _MOST_PODS:
        yield f"… and {len(unready) - _MOST_PODS} more pods that are not ready"


def _pods_of(cluster: Cluster, obj: Object) -> list[Object]:
    if (group_of(obj), kind_of(obj)) == ("", "Pod"):
        return [obj]
    rule = WORKLOADS.get((group_of(obj), kind_of(obj)))
    selection = rule.related(obj) if rule else None
    if selection is None and kind_of(obj) == "Service" and (selector := dig(obj, "spec", "selector")):
        terms = ",".join(f"{key}={value}" for key, value in selector.items())
        return _list(cluster, PODS.path(namespace_of(obj)), labelSelector=terms)
    if selection is None:
        return []
    return sorted(_list(cluster, selection.resource.path(namespace_of(obj)), **selection.selectors), key=name_of)


def _crash_lines(cluster: Cluster, pod: Object) -> Iterator[str]:
    """How a container ended, and the last that it said."""
    for container in pods.containers(pod):
        if not pods.has_crashed(container):
            continue
        name = container["name"]
        # While it runs or waits again, what it said before the crash is in the log of the run before.
        previous = dig(container, "state", "terminated") is None
        ended = dig(container, "lastState" if previous else "state", "terminated", default={})
        code, restarts = ended.get("exitCode"), container.get("restartCount", 0)
        yield f"  container {name} ended with exit code {code} ({ended.get('reason', 'Error')}, {restarts} restarts)"
        path = PODS.path(namespace_of(pod), name_of(pod), "log")
        options = {"container": name, "tailLines": _LOG_LINES, "previous": "true" if previous else None}
        try:
            said = cluster.client.text(path, **options)
        except ApiError:
            continue  # the log is gone with the container
        yield from (f"    {name} | {line}" for line in said.splitlines())


def _event_lines(cluster: Cluster, obj: Object) -> Iterator[str]:
    selector = f"involvedObject.name={name_of(obj)},involvedObject.kind={kind_of(obj)},type=Warning"
    events = [
        event
        for event in _list(cluster, EVENTS.path(namespace_of(obj) or "default"), fieldSelector=selector)
        if dig(event, "involvedObject", "uid", default="") in ("", dig(obj, "metadata", "uid", default=""))
    ]
    events.sort(key=lambda event: event.get("lastTimestamp") or event.get("eventTime") or "", reverse=True)
    for event in events[:_MOST_EVENTS]:
        count = event.get("count") or 1
        times = f" ({count} times)" if count > 1 else ""
        yield f"  event {event.get('reason', '')}{times}: {event.get('message', '').strip()}"


def _replica_set_lines(cluster: Cluster, obj: Object) -> Iterator[str]:
    """A Deployment whose pods cannot even be created says so only in its ReplicaSet."""
    if (group_of(obj), kind_of(obj)) != ("apps", "Deployment"):
        return
    uid = dig(obj, "metadata", "uid", default="")
    sets = [item for item in _list(cluster, REPLICA_SETS.path(namespace_of(obj))) if pods.owned_by(item, uid)]
    for replica_set in sorted(sets, key=lambda item: dig(item, "metadata", "creationTimestamp", default=""))[-1:]:
        yield from _event_lines(cluster, replica_set)


def _list(cluster: Cluster, path: str, **selectors: str) -> list[Object]:
    return items_of(cluster.client.get(path, **selectors))
