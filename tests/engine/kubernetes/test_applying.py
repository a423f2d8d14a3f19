"""Server-side apply: who manages a field, what happens when somebody else does, and objects that exist already."""

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project

_MUTABLE = {"enable_config_map_mutable": True}


def test_a_field_that_somebody_else_manages_is_a_conflict_unless_it_is_forced(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    write('make("ConfigMap", "map", meta("map"), data={"key": "1", "mine": "1"})', provider=_MUTABLE)
    project.up()
    stored = project.resource("map")
    live = kubectl.get("configmap", "map")
    assert stored
    assert live
    manager = stored["outputs"]["__fieldManager"]
    assert manager.startswith("pulumi-kubernetes-")
    assert [(entry["manager"], entry["operation"]) for entry in live["metadata"]["managedFields"]] == [
        (manager, "Apply")
    ]

    kubectl.patch("configmap", "map", {"data": {"key": "theirs", "other": "theirs"}}, manager="another-controller")
    write('make("ConfigMap", "map", meta("map"), data={"key": "2"})', provider=_MUTABLE)
    for failed in (project.preview(fails=True), project.up(fails=True)):
        assert "field conflict on ConfigMap" in failed.text
        assert 'conflict with "another-controller"' in failed.text
        assert ".data.key" in failed.text
        assert "pulumi.com/patchForce" in failed.text
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"key": "theirs", "mine": "1", "other": "theirs"}, "nothing was half-applied"

    force = 'meta("map", annotations={"pulumi.com/patchForce": "true"})'
    write(f'make("ConfigMap", "map", {force}, data={{"key": "2"}})', provider=_MUTABLE)
    assert project.up().operation("map") == "update"
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"key": "2", "other": "theirs"}, "theirs stays, what the program dropped goes"
    assert (project.resource("map") or {})["outputs"]["__fieldManager"] == manager

    # The program may choose the manager; the one before it lets go of everything.
    chosen = 'meta("map", annotations={"pulumi.com/patchFieldManager": "chosen"})'
    write(f'make("ConfigMap", "map", {chosen}, data={{"key": "2"}})', provider=_MUTABLE)
    project.up()
    live = kubectl.get("configmap", "map")
    assert live
    assert {entry["manager"] for entry in live["metadata"]["managedFields"]} == {"chosen", "another-controller"}


def test_ignored_changes_leave_the_field_as_somebody_else_set_it(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    program = """
        make("Deployment", "web", meta("web", annotations={{"pulumi.com/skipAwait": "true", "version": "{version}"}}),
             spec=dict(replicas=0, selector=dict(matchLabels=dict(app="test")), template=pod("sleep 1", "none")),
             opts=opts(ignore_changes=["spec.replicas"]))
    """
    write(program.format(version=1))
    project.up()
    kubectl.run("scale", "deployment", "web", "--replicas=1")
    kubectl.patch("deployment", "web", {"spec": {"paused": True}})
    write(program.format(version=2).replace("replicas=0", "replicas=5"))
    assert project.up().operation("web") == "update"
    live = kubectl.get("deployment", "web")
    assert live
    assert live["spec"]["replicas"] == 1
    assert live["metadata"]["annotations"]["version"] == "2"


def test_an_object_that_exists_already_is_not_taken_over(project: Project, write: Programs, kubectl: Kubectl) -> None:
    kubectl.run("create", "configmap", "map", "--from-literal=theirs=1")
    write('make("ConfigMap", "map", meta("map"), data={"mine": "1"})')
    preview = project.preview()
    assert any("already exists" in message for message in preview.diagnostics("warning", resource="map"))
    failed = project.up(fails=True)
    assert f"ConfigMap {kubectl.namespace}/map already exists" in failed.text
    assert "pulumi import" in failed.text
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"theirs": "1"}

    write(
        'make("ConfigMap", "map", meta("map"), data={"mine": "1"}, opts=opts(retain_on_delete=True))',
        provider={"upsert_existing_objects": True},
    )
    assert project.up().operation("map") == "create"
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"theirs": "1", "mine": "1"}
    project.destroy()
    assert kubectl.get("configmap", "map"), "retain_on_delete keeps it"
