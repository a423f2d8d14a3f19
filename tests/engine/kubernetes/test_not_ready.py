"""When waiting fails: what is wrong is said, the object stays in the state, and the next update waits again."""

import signal
import time
from typing import Any

from tests.engine.kubernetes.cluster import Kubectl, eventually
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


def _init_errors(project: Project, name: str) -> list[str]:
    resource: dict[str, Any] = project.resource(name) or {}
    assert resource, f"{name} is not in the state"
    return resource.get("initErrors", [])


def test_what_does_not_become_ready_is_explained_from_pods_logs_and_events(
    project: Project, write: Programs, kubectl: Kubectl, image: str
) -> None:
    write(f"""
        soon = {{"pulumi.com/timeoutSeconds": "12"}}
        image = "{image}"


        def workload(app, template):
            template["metadata"]["labels"] = dict(app=app)
            return dict(replicas=1, selector=dict(matchLabels=dict(app=app)), template=template)


        # Without the probe it would count as ready for the moment for which it runs.
        crash = pod("echo boom from the container; exit 3", image, readinessProbe=dict(exec=dict(command=["false"])))
        make("Deployment", "crash", meta("crash", annotations=soon), spec=workload("crash", crash))
        pull = pod("true", "127.0.0.1:1/none:1")
        make("StatefulSet", "pull", meta("pull", annotations=soon), spec=dict(
            serviceName="pull", **workload("pull", pull)))
        nowhere = pod("true", image)
        nowhere["spec"]["nodeSelector"] = dict(nowhere="true")
        make("StatefulSet", "place", meta("place"), spec=dict(serviceName="place", **workload("place", nowhere)),
             opts=opts(custom_timeouts=CustomTimeouts(create="4s")))
        once = pod("echo job says no; exit 4", image)
        once["spec"]["restartPolicy"] = "Never"
        make("Job", "job", meta("job"), spec=dict(backoffLimit=0, template=once))
        make("Service", "svc", meta("svc", annotations=soon), spec=dict(
            selector=dict(app="none"), ports=[dict(port=80)]))
        make("PersistentVolumeClaim", "pvc", meta("pvc", annotations=soon), spec=dict(
            storageClassName="missing", accessModes=["ReadWriteOnce"], resources=dict(requests=dict(storage="1Gi"))))
        make("ConfigMap", "fine", meta("fine"), data=dict(key="1"))
    """)
    failed = project.up(fails=True, timeout=120)
    said = failed.text
    assert sorted(failed.failed) == ["crash", "job", "place", "pull", "pvc", "svc"]
    assert f"Deployment {kubectl.namespace}/crash did not become ready within 12 s" in said
    assert "container main ended with exit code 3" in said
    assert "main | boom from the container" in said
    assert "127.0.0.1:1/none:1" in said
    assert "ErrImagePull" in said or "ImagePullBackOff" in said
    assert f"StatefulSet {kubectl.namespace}/place did not become ready within 4 s" in said
    assert "Unschedulable" in said
    assert "didn't match Pod's node affinity/selector" in said
    assert f"Job {kubectl.namespace}/job will not become ready: the Job failed: BackoffLimitExceeded" in said
    assert "main | job says no" in said
    assert "waiting for a ready pod that matches spec.selector" in said
    assert "no pod has the labels app=none" in said
    assert "the claim is Pending" in said
    assert 'storageclass.storage.k8s.io "missing" not found' in said
    for name in ("crash", "pull", "place", "job", "svc", "pvc"):
        assert _init_errors(project, name)
        assert (project.resource(name) or {})["inputs"]["metadata"]["name"] == name
    assert not _init_errors(project, "fine")
    refreshed = project.refresh()
    assert "unhealthy state" in refreshed.text
    assert _init_errors(project, "svc")


def test_the_next_update_waits_again_for_what_was_not_ready(
    project: Project, write: Programs, kubectl: Kubectl, image: str
) -> None:
    write(f"""
        template = pod("sleep 600", "{image}", env=[
            dict(name="KEY", valueFrom=dict(configMapKeyRef=dict(name="later", key="key")))])
        make("Deployment", "dep", meta("dep", annotations={{"pulumi.com/timeoutSeconds": "6"}}), spec=dict(
            replicas=1, selector=dict(matchLabels=dict(app="test")), template=template))
        once = pod("test -n \\"$KEY\\"", "{image}", env=[dict(name="KEY", valueFrom=dict(configMapKeyRef=dict(
            name="later", key="key", optional=True)))])
        once["spec"]["restartPolicy"] = "Never"
        make("Job", "job", meta("job", annotations={{"pulumi.com/replaceUnready": "true"}}), spec=dict(
            backoffLimit=0, template=once))
    """)
    failed = project.up(fails=True)
    assert sorted(failed.failed) == ["dep", "job"]
    assert 'CreateContainerConfigError: configmap "later" not found' in failed.text
    assert project.preview().operation("job") == "replace", "a Job that failed is made anew, as it asks"

    kubectl.run("create", "configmap", "later", "--from-literal=key=1")
    # The kubelet takes its time to try again, more than the six seconds that the Deployment is given.
    kubectl.run("wait", "--for=condition=Available", "--timeout=120s", "deployment/dep")
    again = project.up(timeout=120)
    assert again.operation("dep") == "update"
    assert again.changed("dep") == [], "nothing to change, but something to wait for"
    assert again.operation("job") == "replace"
    assert not _init_errors(project, "dep")
    last = project.up()
    assert (last.operation("dep"), last.operation("job")) == ("same", "same")


def test_cancelling_ends_the_wait_at_once_and_keeps_the_object(
    project: Project, write: Programs, kubectl: Kubectl, image: str
) -> None:
    write(f"""
        template = pod("sleep 600", "{image}", readinessProbe=dict(exec=dict(command=["false"])))
        make("Deployment", "dep", meta("dep"), spec=dict(
            replicas=1, selector=dict(matchLabels=dict(app="test")), template=template))
    """)
    running = project.start("up", "--yes", "--skip-preview")
    eventually(lambda: kubectl.get("deployment", "dep"))
    time.sleep(1.0)  # so that it does wait
    running.send_signal(signal.SIGINT)
    interrupted = time.monotonic()
    out, _ = running.communicate(timeout=60)
    assert time.monotonic() - interrupted < 15
    assert running.returncode != 0
    assert f"waiting for Deployment {kubectl.namespace}/dep was cancelled" in out
    assert _init_errors(project, "dep")
    assert kubectl.get("deployment", "dep")
