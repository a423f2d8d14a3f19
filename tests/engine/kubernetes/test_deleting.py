"""Deleting: what goes with an object, what keeps it, and for how long that is waited for."""

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


def test_orphaned_pods_outlive_their_statefulset_and_others_do_not(
    project: Project, write: Programs, kubectl: Kubectl, image: str
) -> None:
    write(f"""
        def sts(name, **annotations):
            template = pod("sleep 600", "{image}", labels=dict(app=name))
            make("StatefulSet", name, meta(name, annotations=annotations or None), spec=dict(
                replicas=1, serviceName=name, selector=dict(matchLabels=dict(app=name)), template=template))


        sts("kept", **{{"pulumi.com/deletionPropagationPolicy": "orphan"}})
        sts("gone")
    """)
    project.up()
    before = kubectl.get("pod", "kept-0")
    project.destroy()
    assert kubectl.names("statefulset") == []
    assert kubectl.names("pods") == ["kept-0"], "the default waits until what it owns is gone too"
    after = kubectl.get("pod", "kept-0")
    assert before
    assert after
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert "deletionTimestamp" not in after["metadata"]


def test_what_keeps_an_object_is_named_when_it_is_not_gone_in_time(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    write("""
        make("ConfigMap", "held", meta("held", annotations={"pulumi.com/timeoutSeconds": "3"}), data=dict(key="1"))
        make("ConfigMap", "vanished", meta("vanished"), data=dict(key="1"))
    """)
    project.up()
    kubectl.patch("configmap", "held", {"metadata": {"finalizers": ["example.com/hold"]}})
    kubectl.run("delete", "configmap", "vanished")
    failed = project.destroy(fails=True)
    assert f"ConfigMap {kubectl.namespace}/held is not gone after 3 s: finalizers" in failed.text
    assert "example.com/hold" in failed.text
    assert project.resource("held")
    assert project.resource("vanished") is None, "what is gone already is as good as deleted"
    kubectl.patch("configmap", "held", {"metadata": {"finalizers": None}})
    project.destroy()
    assert kubectl.get("configmap", "held") is None
