"""What the status of a pod says about why it is not ready yet, in a few words."""

from collections.abc import Iterator

from lab.plugins.kubernetes.objects import Object, conditions_of, dig, name_of

# A container that is in one of these for a moment is on its way; in any other it needs somebody's attention.
ON_ITS_WAY = ("ContainerCreating", "PodInitializing")


def ready(pod: Object) -> bool:
    return conditions_of(pod).get("Ready", {}).get("status") == "True" and not dig(pod, "metadata", "deletionTimestamp")


def finished(pod: Object) -> bool:
    return dig(pod, "status", "phase") == "Succeeded"


def owned_by(pod: Object, uid: str) -> bool:
    return any(owner.get("uid") == uid for owner in dig(pod, "metadata", "ownerReferences", default=[]))


def state(pod: Object) -> str:
    """Why the pod is not ready, short enough for a status line; empty if it is."""
    if ready(pod) or finished(pod):
        return ""
    if dig(pod, "metadata", "deletionTimestamp"):
        return "terminating"
    scheduled = conditions_of(pod).get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return f"{scheduled.get('reason', 'not scheduled')}: {scheduled.get('message', '')}".rstrip(": ")
    for container in containers(pod):
        if said := container_state(container):
            return said
    if dig(pod, "status", "phase") == "Failed":
        reason, message = dig(pod, "status", "reason", default="Failed"), dig(pod, "status", "message", default="")
        return f"{reason}: {message}".rstrip(": ")
    gates = [dig(gate, "conditionType") for gate in dig(pod, "spec", "readinessGates", default=[])]
    unmet = [gate for gate in gates if conditions_of(pod).get(gate, {}).get("status") != "True"]
    if unmet:
        return f"readiness gate {unmet[0]} not met"
    return "running, not ready" if dig(pod, "status", "phase") == "Running" else "not scheduled yet"


def containers(pod: Object) -> Iterator[Object]:
    """Status of each container, in the order in which they start."""
    yield from dig(pod, "status", "initContainerStatuses", default=[])
    yield from dig(pod, "status", "containerStatuses", default=[])


def container_state(container: Object) -> str:
    """Why a container is not ready; empty if it is, or has done its work."""
    name = dig(container, "name", default="")
    waiting, terminated = dig(container, "state", "waiting"), dig(container, "state", "terminated")
    if waiting is not None:
        reason = waiting.get("reason", "waiting")
        if reason in ON_ITS_WAY:
            return reason
        return f"container {name}: {reason}" + (f": {waiting['message']}" if waiting.get("message") else "")
    if terminated is not None:
        code = terminated.get("exitCode", 0)
        if code == 0:
            return ""
        return f"container {name}: {terminated.get('reason', 'Error')}, exit code {code}"
    if not container.get("ready") and not container.get("started", True):
        return f"container {name}: starting"
    return "" if container.get("ready") else f"container {name}: running, not ready"


def has_crashed(container: Object) -> bool:
    """Whether the container ended badly, now or the last time."""
    return any(dig(container, which, "terminated", "exitCode", default=0) != 0 for which in ("state", "lastState"))


def count(pods: list[Object], wanted: int) -> str:
    """`2 pods (1 ready)`"""
    ready_ones = sum(1 for pod in pods if not state(pod))
    return f"{wanted} pod{'s' if wanted != 1 else ''} ({ready_ones} ready)"


def worst(pods: list[Object]) -> str:
    """What is in the way of one of the pods: one that needs attention rather than one that is on its way."""
    unready = sorted((pod for pod in pods if state(pod)), key=name_of)
    chosen = next((pod for pod in unready if state(pod) not in ON_ITS_WAY), unready[0] if unready else None)
    return f"pod {name_of(chosen)}: {state(chosen)}" if chosen else ""
