"""An update returns when its objects are ready: what that means for each kind, and how to ask for something else."""

import json
import secrets
import time
from typing import Any

from tests.engine.kubernetes.cluster import Kubectl, eventually
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


def _ready(obj: dict[str, Any] | None) -> bool:
    assert obj
    conditions = {item["type"]: item["status"] for item in obj["status"].get("conditions", [])}
    return conditions.get("Ready") == "True"


def test_workloads_and_what_they_need_are_ready_when_the_update_returns(
    project: Project, write: Programs, kubectl: Kubectl, image: str, namespace: str
) -> None:
    program = f"""
        from pulumi_kubernetes import apps, core  # the SDK's own classes, for once

        image, text = "{image}", "{{text}}"
        probe = dict(exec=dict(command=["test", "-e", "/tmp/ready"]), periodSeconds=1)
        slowly = f"echo {{{{text}}}}; sleep 1; touch /tmp/ready; sleep 600"


        def workload(app, replicas):
            template = pod(slowly, image, labels=dict(app=app), readinessProbe=probe)
            return dict(replicas=replicas, selector=dict(matchLabels=dict(app=app)), template=template)


        apps.v1.StatefulSet("sts", metadata=meta("sts"), spec=dict(serviceName="sts", **workload("sts", {{replicas}})))
        apps.v1.Deployment("dep", metadata=meta("dep"), spec=workload("dep", 1))
        core.v1.Service("svc", metadata=meta("svc"), spec=dict(selector=dict(app="dep"), ports=[dict(port=80)]))
        core.v1.Service("headless", metadata=meta("headless"), spec=dict(
            selector=dict(app="none"), clusterIP="None", ports=[dict(port=80)]))
        core.v1.Service("open", metadata=meta("open"), spec=dict(ports=[dict(port=80)]))
        core.v1.Service("outside", metadata=meta("outside"), spec=dict(
            type="ExternalName", externalName="example.com"))
        daemons = workload("ds", 1)
        make("DaemonSet", "ds", meta("ds"), spec=dict(selector=daemons["selector"], template=daemons["template"]))
        once = pod("sleep 1", image, labels=dict(app="job"))
        make("Job", "job", meta("job"), spec=dict(
            template=dict(once, spec=dict(once["spec"], restartPolicy="Never")), ttlSecondsAfterFinished=60))
        make("Pod", "pod", meta("pod"), spec=pod(slowly, image, readinessProbe=probe)["spec"])
        make("StorageClass", "late", dict(name=NAMESPACE), provisioner="none", volumeBindingMode="WaitForFirstConsumer")
        volume = dict(capacity=dict(storage="1Gi"), accessModes=["ReadWriteOnce"], hostPath=dict(path="/tmp"))
        make("PersistentVolume", "pv", dict(name=NAMESPACE), spec=dict(storageClassName="", claimRef=dict(
            namespace=NAMESPACE, name="bound"), **volume))
        claim = dict(accessModes=["ReadWriteOnce"], resources=dict(requests=dict(storage="1Gi")))
        make("PersistentVolumeClaim", "bound", meta("bound"), spec=dict(storageClassName="", **claim))
        late = make("PersistentVolumeClaim", "waits", meta("waits"), spec=dict(storageClassName=NAMESPACE, **claim))
    """
    write(program.format(text="one", replicas=2))
    up = project.up()
    for pod in ("sts-0", "sts-1", "pod"):
        assert _ready(kubectl.get("pod", pod)), pod
    deployment, daemons = kubectl.get("deployment", "dep"), kubectl.get("daemonset", "ds")
    job, bound, waits = kubectl.get("job", "job"), kubectl.get("pvc", "bound"), kubectl.get("pvc", "waits")
    assert deployment
    assert daemons
    assert job
    assert bound
    assert waits
    assert deployment["status"]["availableReplicas"] == 1
    assert daemons["status"]["numberAvailable"] == daemons["status"]["desiredNumberScheduled"] > 0
    assert job["status"]["succeeded"] == 1
    assert (bound["status"]["phase"], waits["status"]["phase"]) == ("Bound", "Pending")
    lines = [message for message in up.diagnostics("info", resource="sts") if "waiting for 2 pods" in message]
    assert lines, "there is a status line while it waits"
    assert up.text.count("Error") == 0

    # An update waits for the new pods, and not for the old ones that are ready still.
    write(program.format(text="two", replicas=1))
    changed = project.up()
    assert changed.operation("sts") == changed.operation("dep") == "update"
    assert kubectl.names("pods") == sorted(name for name in kubectl.names("pods") if name != "sts-1")
    assert _ready(kubectl.get("pod", "sts-0"))
    assert kubectl.run("logs", "sts-0").strip() == "two"
    assert kubectl.run("logs", "deployment/dep").strip() == "two"
    project.destroy()
    assert kubectl.names("pods") == []


def test_custom_objects_wait_for_their_own_conditions_or_for_those_that_are_asked_for(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    group = f"g{secrets.token_hex(4)}.example.com"
    program = f"""
        schema = dict(type="object", x_kubernetes_preserve_unknown_fields=True)
        crd = make("CustomResourceDefinition", "crd", dict(name="things.{group}"), spec=dict(
            group="{group}", scope="Namespaced", names=dict(plural="things", singular="thing", kind="Thing"),
            versions=[dict(name="v1", served=True, storage=True, schema=dict(openAPIV3Schema=schema),
                           subresources=dict(status=dict()))]))


        def thing(name, wait=None, **fields):
            annotations = {{"pulumi.com/waitFor": wait}} if wait else None
            return make("Thing", name, meta(name, annotations=annotations), api="{group}/v1", spec=fields,
                        opts=opts(depends_on=[crd]))
    """
    write(program + '\n        thing("silent")\n')
    project.up()  # one that says nothing about readiness has none

    path = '{.status.hosts[?(@.name=="b")].ip}'
    wait = json.dumps(["condition=Synced=False", f"jsonpath={path}=10.0.0.2"])
    more = f"""
        thing("silent")
        thing("usual", size=2)
        thing("asked", wait={wait!r})
    """
    write(program + more)
    running = project.start("up", "--yes", "--skip-preview")
    eventually(lambda: kubectl.get(f"things.{group}", "asked") and kubectl.get(f"things.{group}", "usual"))

    def status(name: str, **fields: Any) -> None:
        kubectl.run("patch", f"things.{group}", name, "--subresource=status", "--type=merge",
                    "--patch", json.dumps({"status": fields}))  # fmt: skip

    status("asked", conditions=[{"type": "Synced", "status": "False"}], hosts=[{"name": "a", "ip": "10.0.0.2"}])
    time.sleep(1.0)
    assert running.poll() is None, "one of two conditions is not enough"
    status("asked", hosts=[{"name": "a", "ip": "10.0.0.1"}, {"name": "b", "ip": "10.0.0.2"}])
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert f"waiting for {path}=10.0.0.2 (now absent)" in out

    status("usual", observedGeneration=1, conditions=[{"type": "Ready", "status": "False", "reason": "NotYet"}])
    write(program + '\n        thing("silent")\n        thing("usual", size=3)\n')
    running = project.start("up", "--yes", "--skip-preview")
    eventually(lambda: (kubectl.get(f"things.{group}", "usual") or {})["spec"]["size"] == 3)
    status("usual", observedGeneration=1, conditions=[{"type": "Ready", "status": "True"}])
    time.sleep(1.0)
    assert running.poll() is None, "that was about the generation before"
    status("usual", observedGeneration=2, conditions=[{"type": "Ready", "status": "True"}])
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert "waiting for its controller to see the change" in out

    write(program + "\n        thing(\"silent\", wait='jsonpath={.status.x')\n")
    assert "pulumi.com/waitFor" in project.preview(fails=True).text
    project.destroy()


def test_skip_await_neither_waits_for_pods_nor_for_their_end(
    project: Project, write: Programs, kubectl: Kubectl, image: str
) -> None:
    program = f"""
        quiet = {{{{"pulumi.com/skipAwait": "true"}}}}
        template = pod("trap 'sleep 4; exit' TERM; while :; do sleep 0.1; done", "{image}", grace=20,
                       readinessProbe=dict(exec=dict(command=["false"])))
        make("StatefulSet", "sts", meta("sts", annotations=quiet), spec=dict(
            replicas=1, serviceName="{{service}}", selector=dict(matchLabels=dict(app="test")), template=template))
    """
    write(program.format(service="one"))
    started = project.up()
    assert started.seconds < 20, "its pod never becomes ready"
    eventually(lambda: (kubectl.get("pod", "sts-0") or {}).get("status", {}).get("phase") == "Running")

    # The one before it is still on its way out when the replacement is made: it waits for that, and does not fail.
    write(program.format(service="two"))
    assert project.up().operation("sts") == "replace"
    live = kubectl.get("statefulset", "sts")
    assert live
    assert live["spec"]["serviceName"] == "two"
    eventually(lambda: (kubectl.get("pod", "sts-0") or {}).get("status", {}).get("phase") == "Running")
    project.destroy()
    assert kubectl.get("pod", "sts-0"), "still terminating"
