"""When an object of each kind is ready, judged from its status alone."""

from typing import Any

import pytest

from lab.plugins.kubernetes.objects import group_version
from lab.plugins.kubernetes.readiness_objects import CUSTOM, OTHERS
from lab.plugins.kubernetes.readiness_workloads import WORKLOADS
from lab.plugins.kubernetes.verdict import Verdict, label_selector


def _judge(kind: str, spec: Any, status: Any, related: list[Any] | None = None, *, group: str = "") -> Verdict:
    rule = (WORKLOADS | OTHERS).get((group, kind), CUSTOM)
    obj = {"kind": kind, "metadata": {"name": "x", "uid": "u", "generation": 2}, "spec": spec, "status": status}
    return rule.check(obj, related or [])


def _pod(name: str, **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "ownerReferences": [{"uid": "u"}]}, "status": status}


_CREATING = _pod(
    "x-1",
    phase="Pending",
    conditions=[{"type": "PodScheduled", "status": "True"}],
    containerStatuses=[{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}],
)
_READY = _pod("x-0", phase="Running", conditions=[{"type": "Ready", "status": "True"}])


def test_a_statefulset_tells_which_pod_it_waits_for() -> None:
    status = {"observedGeneration": 2, "replicas": 2, "readyReplicas": 1}
    verdict = _judge("StatefulSet", {"replicas": 2}, status, [_READY, _CREATING], group="apps")
    assert verdict.line() == "[1/2] waiting for 2 pods (1 ready): pod x-1: ContainerCreating"


@pytest.mark.parametrize(
    ("spec", "status", "ready"),
    [
        ({}, {"currentRevision": "a", "updateRevision": "a"}, True),
        ({}, {"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1}, False),
        ({}, {"currentRevision": "a", "updateRevision": "a", "observedGeneration": 1}, False),
        ({}, {"currentRevision": "a", "updateRevision": "a", "replicas": 3}, False),
        ({"updateStrategy": {"type": "OnDelete"}}, {"currentRevision": "a", "updateRevision": "b"}, True),
        (
            {"updateStrategy": {"rollingUpdate": {"partition": 1}}},
            {"currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1},
            True,
        ),
    ],
)
def test_a_statefulset_is_ready_with_all_pods_at_the_new_revision(spec: Any, status: Any, ready: bool) -> None:
    base = {"observedGeneration": 2, "replicas": 2, "readyReplicas": 2}
    assert _judge("StatefulSet", {"replicas": 2} | spec, base | status, group="apps").ready == ready


def test_a_deployment_is_ready_when_only_new_pods_are_left_and_available() -> None:
    status = {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
    assert _judge("Deployment", {"replicas": 2}, status, group="apps").ready
    assert not _judge("Deployment", {"replicas": 2}, status | {"replicas": 3}, group="apps").ready
    assert not _judge("Deployment", {"replicas": 2}, status | {"availableReplicas": 1}, group="apps").ready
    assert _judge("Deployment", {"replicas": 2, "paused": True}, {}, group="apps").ready
    stuck = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no"}]
    assert _judge("Deployment", {"replicas": 2}, {"observedGeneration": 2, "conditions": stuck}, group="apps").failure


def test_a_daemonset_counts_the_nodes_that_it_wants() -> None:
    status = {"observedGeneration": 2, "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3}
    assert _judge("DaemonSet", {}, status, group="apps").ready
    assert not _judge("DaemonSet", {}, status | {"updatedNumberScheduled": 2}, group="apps").ready
    assert not _judge("DaemonSet", {}, {}, group="apps").ready


def test_a_job_completes_or_fails() -> None:
    assert _judge("Job", {}, {"conditions": [{"type": "Complete", "status": "True"}]}, group="batch").ready
    failed = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"}]
    verdict = _judge("Job", {}, {"conditions": failed}, group="batch")
    assert verdict.failure == "the Job failed: BackoffLimitExceeded: too often"
    assert _judge("Job", {"suspend": True}, {}, group="batch").ready
    assert not _judge("Job", {}, {"active": 1}, group="batch").ready


def test_a_pod_may_be_ready_done_or_failed() -> None:
    assert _judge("Pod", {}, _READY["status"]).ready
    assert _judge("Pod", {}, {"phase": "Succeeded"}).ready
    assert "Evicted" in _judge("Pod", {}, {"phase": "Failed", "reason": "Evicted"}).failure
    nowhere = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]
    assert _judge("Pod", {}, {"phase": "Pending", "conditions": nowhere}).detail == "Unschedulable: 0/3 nodes"


@pytest.mark.parametrize(
    ("spec", "slices", "ready"),
    [
        ({"selector": {"a": "b"}}, [], False),
        ({"selector": {"a": "b"}}, [{"endpoints": [{"conditions": {"ready": False}}]}], False),
        ({"selector": {"a": "b"}}, [{"endpoints": [{"conditions": {"ready": True}}]}], True),
        ({"selector": {"a": "b"}}, [{"endpoints": [{}]}], True),
        ({"selector": {"a": "b"}, "clusterIP": "None"}, [], True),
        ({"type": "ExternalName"}, [], True),
        ({}, [], True),
        ({"type": "LoadBalancer"}, [], False),
    ],
)
def test_a_service_needs_a_ready_endpoint_unless_it_has_no_use_for_one(
    spec: Any, slices: list[Any], ready: bool
) -> None:
    assert _judge("Service", spec, {}, slices).ready == ready


def test_a_load_balancer_and_an_ingress_need_an_address() -> None:
    address = {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}
    assert _judge("Service", {"type": "LoadBalancer"}, address).ready
    assert _judge("Ingress", {}, address, group="networking.k8s.io").ready
    assert not _judge("Ingress", {}, {}, group="networking.k8s.io").ready


def test_volumes_definitions_and_custom_objects() -> None:
    assert _judge("PersistentVolumeClaim", {}, {"phase": "Bound"}).ready
    assert _judge("PersistentVolumeClaim", {}, {"phase": "Lost"}).failure
    late = {"metadata": {"name": "late"}, "volumeBindingMode": "WaitForFirstConsumer"}
    assert _judge("PersistentVolumeClaim", {"storageClassName": "late"}, {}, [late]).ready
    assert not _judge("PersistentVolumeClaim", {"storageClassName": "late", "volumeName": "v"}, {}, [late]).ready
    assert not _judge("PersistentVolumeClaim", {"storageClassName": "other"}, {}, [late]).ready
    assert _judge("PersistentVolume", {}, {"phase": "Available"}).ready
    group = "apiextensions.k8s.io"
    served = [{"type": "Established", "status": "True"}]
    assert _judge("CustomResourceDefinition", {}, {"conditions": served}, group=group).ready
    taken = [{"type": "NamesAccepted", "status": "False", "message": "taken"}]
    assert "taken" in _judge("CustomResourceDefinition", {}, {"conditions": taken}, group=group).failure
    for status, ready in (
        ({}, True),
        ({"observedGeneration": 1}, False),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, False),
    ):
        assert _judge("Thing", {}, status, group="example.com").ready == ready


def test_a_label_selector_is_written_for_the_api() -> None:
    selector = {
        "matchLabels": {"a": "b"},
        "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["d", "e"]},
            {"key": "f", "operator": "NotIn", "values": ["g"]},
            {"key": "h", "operator": "Exists"},
            {"key": "i", "operator": "DoesNotExist"},
        ],
    }
    assert label_selector(selector) == "a=b,c in (d,e),f notin (g),h,!i"
    assert group_version("core/v1") == group_version("v1") == ("", "v1")
