"""Wait until an object is ready, or gone: by watching it, with a status line on the way and a reason at the end."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from lab.plugins.kubernetes.client import ApiError
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.objects import Object, dig, group_of, items_of, kind_of, name_of, namespace_of, title
from lab.plugins.kubernetes.readiness_objects import CUSTOM, OTHERS
from lab.plugins.kubernetes.readiness_workloads import WORKLOADS
from lab.plugins.kubernetes.verdict import Readiness, Verdict
from lab.plugins.kubernetes.watching import Cancellation, Feed
from lab.plugins.kubernetes.wishes import awaited, skips_wait

Report = Callable[[str], None]

_SILENT_SECONDS = 0.5  # most waits are over before anybody could read why they wait

# Groups whose kinds are part of Kubernetes: those without an entry in the tables are ready when they exist.
_BUILT_IN = {"", "apps", "autoscaling", "batch", "extensions", "policy"}


class NotReady(Exception):  # noqa: N818  the object's state
    """The object exists, and did not become ready (or would not go); `obj` is its last state."""

    def __init__(self, message: str, obj: Object) -> None:
        super().__init__(message)
        self.obj = obj


def readiness(inputs: Object) -> Readiness | None:
    """What to wait for after `inputs` were applied; None if nothing."""
    if skips_wait(inputs):
        return None
    if asked := awaited(inputs):
        return asked
    group, kind = group_of(inputs), kind_of(inputs)
    if known := WORKLOADS.get((group, kind)) or OTHERS.get((group, kind)):
        return known
    built_in = group in _BUILT_IN or group.endswith(".k8s.io")
    return None if built_in else CUSTOM


def look(cluster: Cluster, obj: Object, rule: Readiness) -> Verdict:
    """One look, without waiting."""
    related: list[Object] = []
    if selection := rule.related(obj):
        try:
            path = selection.resource.path(namespace_of(obj))
            related = items_of(cluster.client.get(path, **selection.selectors))
        except ApiError:
            related = []  # it only makes the words better, or the verdict stricter
    return rule.check(obj, related)


def until_ready(
    cluster: Cluster, cancellation: Cancellation, obj: Object, rule: Readiness, seconds: float, report: Report
) -> Object:
    """Wait for `obj`, which has just been applied; returns its state then, or raises `NotReady`."""
    changed = threading.Event()
    begun = time.monotonic()
    deadline = begun + seconds
    with ExitStack() as feeds:
        feeds.enter_context(cancellation.wakes(changed.set))
        own = feeds.enter_context(_feed(cluster, obj, changed))
        related = None
        if selection := rule.related(obj):
            path = selection.resource.path(namespace_of(obj))
            related = feeds.enter_context(Feed(cluster.client, path, changed.set, **selection.selectors))
        current, said = obj, Verdict()
        while True:
            changed.clear()
            if own.listed:
                current, said = _judge(own, related, current, rule)
                if said.ready:
                    return current
                if said.failure:
                    raise NotReady(f"{title(current)} will not become ready: {said.failure}", current)
            _go_on(own, cancellation, current, said)
            if (left := deadline - time.monotonic()) <= 0:
                raise NotReady(
                    f"{title(current)} did not become ready within {seconds:g} s: {_bare(said.message)}", current
                )
            _pause(changed, left, begun, report, own.lost or said.line())


def until_gone(cluster: Cluster, cancellation: Cancellation, obj: Object, seconds: float, report: Report) -> None:
    """Wait until `obj`, whose deletion has been asked for, is gone; raises `NotReady` if it stays."""
    changed = threading.Event()
    begun = time.monotonic()
    deadline = begun + seconds
    uid = dig(obj, "metadata", "uid")
    with cancellation.wakes(changed.set), _feed(cluster, obj, changed) as own:
        current = obj
        while True:
            changed.clear()
            # One of the same name but with another uid is a new object, made by somebody else.
            left = [item for item in own.all() if not uid or dig(item, "metadata", "uid") == uid]
            if own.listed and not left:
                return
            current = left[0] if left else current
            if own.refused and own.refused.not_found:
                return
            reason = _what_keeps(current)
            _go_on(own, cancellation, current, Verdict(message=reason))
            if (remaining := deadline - time.monotonic()) <= 0:
                raise NotReady(f"{title(current)} is not gone after {seconds:g} s: {reason}", current)
            _pause(changed, remaining, begun, report, own.lost or f"waiting until it is gone: {reason}")


def _feed(cluster: Cluster, obj: Object, changed: threading.Event) -> Feed:
    selector = f"metadata.name={name_of(obj)}"
    return Feed(cluster.client, cluster.collection(obj), changed.set, fieldSelector=selector)


def _pause(changed: threading.Event, left: float, begun: float, report: Report, line: str) -> None:
    """Wait for the next change, and say what for."""
    silent = _SILENT_SECONDS - (time.monotonic() - begun)
    if silent > 0 and changed.wait(min(silent, left)):
        return
    report(line)
    changed.wait(left)


def _judge(own: Feed, related: Feed | None, current: Object, rule: Readiness) -> tuple[Object, Verdict]:
    objects = own.all()
    if objects:
        return objects[0], rule.check(objects[0], related.all() if related else [])
    # A Job with ttlSecondsAfterFinished may be gone by the time we look: its last state counts.
    last = own.last_deleted() or current
    verdict = rule.check(last, [])
    return last, verdict if verdict.ready else Verdict(failure="it was deleted by somebody else")


def _go_on(own: Feed, cancellation: Cancellation, current: Object, said: Verdict) -> None:
    if cancellation.cancelled:
        raise NotReady(f"waiting for {title(current)} was cancelled; it was last seen {_bare(said.message)}", current)
    if own.refused:
        raise NotReady(f"{title(current)} cannot be watched: {own.refused.message}", current)


def _bare(message: str) -> str:
    """A status line without its step, to stand in a sentence."""
    return message.partition("] ")[2] or message or "waiting for the API server"


def _what_keeps(obj: Object) -> str:
    """Why an object that is being deleted is still there."""
    for condition in dig(obj, "status", "conditions", default=[]):
        # A namespace says what is left in it.
        if condition.get("type", "").startswith("Namespace") and condition.get("status") == "True":
            return condition.get("message", condition["type"])
    if finalizers := dig(obj, "metadata", "finalizers"):
        return f"finalizers {', '.join(finalizers)}"
    if replicas := dig(obj, "status", "replicas"):
        return f"{replicas} pods left"
    return "terminating" if dig(obj, "metadata", "deletionTimestamp") else "not deleted yet"
