"""When pods and what makes them are ready: Pod, StatefulSet, Deployment, DaemonSet, ReplicaSet, Job."""

from lab.plugins.kubernetes import pods
from lab.plugins.kubernetes.discovery import PODS
from lab.plugins.kubernetes.objects import Object, conditions_of, dig
from lab.plugins.kubernetes.verdict import (
    READY,
    Readiness,
    Selection,
    Verdict,
    failed,
    label_selector,
    observed,
    waiting,
)


def _selected_pods(obj: Object) -> Selection | None:
    selector = label_selector(dig(obj, "spec", "selector", default={}))
    return Selection(PODS, {"labelSelector": selector}) if selector else None


def _pods_of_job(job: Object) -> Selection | None:
    return Selection(PODS, {"labelSelector": f"batch.kubernetes.io/controller-uid={dig(job, 'metadata', 'uid')}"})


def _statefulset(obj: Object, found: list[Object]) -> Verdict:
    wanted = dig(obj, "spec", "replicas", default=1)
    own = [pod for pod in found if pods.owned_by(pod, dig(obj, "metadata", "uid", default=""))]
    if "observedGeneration" not in dig(obj, "status", default={}) or not observed(obj):
        return waiting("[1/2] waiting for the StatefulSet controller to see the change")
    counted = "availableReplicas" if dig(obj, "spec", "minReadySeconds", default=0) else "readyReplicas"
    if dig(obj, "status", counted, default=0) != wanted or dig(obj, "status", "replicas", default=0) != wanted:
        return waiting(f"[1/2] waiting for {pods.count(own, wanted)}", pods.worst(own))
    # With OnDelete the pods are replaced by somebody else, whenever that may be.
    if dig(obj, "spec", "updateStrategy", "type", default="RollingUpdate") == "OnDelete":
        return READY
    partition = dig(obj, "spec", "updateStrategy", "rollingUpdate", "partition", default=0)
    same = dig(obj, "status", "currentRevision") == dig(obj, "status", "updateRevision")
    updated = dig(obj, "status", "updatedReplicas", default=0)
    if same or (partition and updated >= wanted - partition):
        return READY
    return waiting(f"[2/2] waiting for the update to reach all pods ({updated} of {wanted - partition})")


def _deployment(obj: Object, found: list[Object]) -> Verdict:
    wanted = dig(obj, "spec", "replicas", default=1)
    status = dig(obj, "status", default={})
    if dig(obj, "spec", "paused"):
        return READY  # somebody paused the rollout on purpose; it goes on when they say so
    if "observedGeneration" not in status or not observed(obj):
        return waiting("[1/2] waiting for the Deployment controller to see the change")
    progressing = conditions_of(obj).get("Progressing", {})
    if progressing.get("status") == "False" and progressing.get("reason") == "ProgressDeadlineExceeded":
        return failed(f"the rollout made no progress: {progressing.get('message', '')}")
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if updated < wanted or status.get("replicas", 0) > updated:
        return waiting(
            f"[1/2] waiting for the rollout ({updated} of {wanted} pods updated)", pods.worst(_staying(found))
        )
    if available < wanted:
        return waiting(f"[2/2] waiting for {pods.count(_staying(found), wanted)}", pods.worst(_staying(found)))
    return READY


def _replicaset(obj: Object, found: list[Object]) -> Verdict:
    wanted = dig(obj, "spec", "replicas", default=1)
    if observed(obj) and dig(obj, "status", "readyReplicas", default=0) >= wanted:
        return READY
    return waiting(f"[1/1] waiting for {pods.count(_staying(found), wanted)}", pods.worst(_staying(found)))


def _daemonset(obj: Object, found: list[Object]) -> Verdict:
    status = dig(obj, "status", default={})
    if "observedGeneration" not in status or not observed(obj):
        return waiting("[1/2] waiting for the DaemonSet controller to see the change")
    wanted = status.get("desiredNumberScheduled", 0)
    rolling = dig(obj, "spec", "updateStrategy", "type", default="RollingUpdate") != "OnDelete"
    updated = status.get("updatedNumberScheduled", 0)
    if rolling and updated < wanted:
        return waiting(
            f"[1/2] waiting for the rollout ({updated} of {wanted} pods updated)", pods.worst(_staying(found))
        )
    if status.get("numberAvailable", 0) < wanted:
        return waiting(f"[2/2] waiting for {pods.count(_staying(found), wanted)}", pods.worst(_staying(found)))
    return READY


def _job(obj: Object, found: list[Object]) -> Verdict:
    conditions = conditions_of(obj)
    if conditions.get("Complete", {}).get("status") == "True":
        return READY
    if (why := conditions.get("Failed", {})).get("status") == "True":
        return failed(f"the Job failed: {why.get('reason', '')}: {why.get('message', '')}".rstrip(": "))
    if dig(obj, "spec", "suspend"):
        return READY  # suspended by the program itself: nothing will run
    wanted, done = dig(obj, "spec", "completions", default=1), dig(obj, "status", "succeeded", default=0)
    return waiting(f"[1/1] waiting for the Job to complete ({done} of {wanted})", pods.worst(found))


def _pod(obj: Object, _: list[Object]) -> Verdict:
    if pods.ready(obj) or pods.finished(obj):
        return READY
    if dig(obj, "status", "phase") == "Failed":
        return failed(f"the pod failed: {pods.state(obj)}")
    return waiting("[1/1] waiting for the pod", pods.state(obj))


def _staying(found: list[Object]) -> list[Object]:
    """The pods without those of the version before, which are on their way out."""
    return [pod for pod in found if not dig(pod, "metadata", "deletionTimestamp")]


def job_is_complete(job: Object) -> bool:
    return _job(job, []).ready


WORKLOADS: dict[tuple[str, str], Readiness] = {
    ("apps", "StatefulSet"): Readiness(_statefulset, related=_selected_pods),
    ("apps", "Deployment"): Readiness(_deployment, related=_selected_pods),
    ("apps", "DaemonSet"): Readiness(_daemonset, related=_selected_pods),
    ("apps", "ReplicaSet"): Readiness(_replicaset, related=_selected_pods),
    ("batch", "Job"): Readiness(_job, related=_pods_of_job),
    ("", "Pod"): Readiness(_pod, seconds=300.0),
}
