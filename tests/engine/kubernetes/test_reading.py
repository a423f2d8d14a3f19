"""Refresh and import: what is on the cluster becomes what is in the state."""

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project

_QUIET = '{"pulumi.com/skipAwait": "true"}'


def test_a_refresh_sees_drift_and_loss_and_nothing_that_the_server_merely_writes_differently(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    write(
        f"""
        resources = dict(requests=dict(cpu="1000m", memory="1024Mi"), limits=dict(memory="2048Mi"))
        template = pod("sleep 1", "none", env=[dict(name="A", value="1"), dict(name="B", value="2")],
                       resources=resources)
        make("Deployment", "web", meta("web", annotations={_QUIET}), spec=dict(
            replicas=0, selector=dict(matchLabels=dict(app="test")), template=template))
        make("ConfigMap", "map", meta("map"), data={{"kept": "1", "drifts": "1"}})
        make("ConfigMap", "lost", meta("lost"), data={{"key": "1"}})
        """,
        provider={"enable_config_map_mutable": True},
    )
    project.up()
    calm = project.refresh()
    assert project.up().operation("web") == "same"
    assert not any(operation == "update" for operation, _ in calm.steps)

    kubectl.patch("configmap", "map", {"data": {"drifts": "changed", "added": "by hand"}}, manager="kubectl-patch")
    kubectl.run("delete", "configmap", "lost")
    kubectl.run("set", "env", "deployment/web", "B=20", "C=30")
    project.refresh()
    assert project.resource("lost") is None
    stored = project.resource("map") or {}
    assert stored["inputs"]["data"] == {"kept": "1", "drifts": "changed"}
    shown = project.preview()
    assert shown.operation("lost") == "create"
    assert shown.changed("map") == ["data.drifts"]
    assert shown.changed("web") == ["spec.template.spec.containers[0].env[1].value"]
    assert project.up().operation("map") == "update"
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"kept": "1", "drifts": "1"}, "what was done by hand is undone"


def test_an_existing_object_is_imported_by_its_id(project: Project, write: Programs, kubectl: Kubectl) -> None:
    kubectl.run("create", "configmap", "map", "--from-literal=key=1")
    program = 'make("ConfigMap", "map", meta("map"), data={{"key": "{value}"}}, opts=opts(import_="{id}"))'
    mutable = {"enable_config_map_mutable": True}

    write(program.format(value="1", id=f"{kubectl.namespace}/misspelt"), provider=mutable)
    assert "does not exist" in project.up(fails=True).text
    write(program.format(value="1", id=f"{kubectl.namespace}/map"), provider=mutable)
    assert project.up().operation("map") == "import"
    assert (project.resource("map") or {})["inputs"]["data"] == {"key": "1"}
    write(program.format(value="2", id=f"{kubectl.namespace}/map"), provider=mutable)
    project.preview()
    assert project.up().operation("map") == "update"
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"key": "2"}, "what kubectl set is taken over without a conflict"

    # An object that is only looked at.
    write(f"""
        from pulumi_kubernetes import core

        found = core.v1.ConfigMap.get("found", "{kubectl.namespace}/map")
        pulumi.export("data", found.data)
    """)
    project.up()
    assert project.outputs()["data"] == {"key": "2"}


def test_what_was_applied_before_is_imported_as_it_was_applied(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    program = f"""
        make("Deployment", "web", meta("web", annotations={_QUIET}), spec=dict(
            replicas=0, selector=dict(matchLabels=dict(app="test")), template=pod("sleep 1", "none")),
            opts=opts(retain_on_delete=True))
    """
    write(program)
    project.up()
    project.destroy()
    project.pulumi("import", "kubernetes:apps/v1:Deployment", "web", f"{kubectl.namespace}/web",
                   "--yes", "--skip-preview", "--generate-code=false", "--protect=false")  # fmt: skip
    assert project.up().operation("web") == "same", "without the defaults that the server has added"
