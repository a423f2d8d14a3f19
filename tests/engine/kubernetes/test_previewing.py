"""Previews by dry run: what the API server would refuse fails before anything is changed."""

import secrets

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


def test_what_the_api_server_refuses_fails_at_preview_in_its_own_words(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    service = 'make("Service", "web", meta("web"), spec=dict(ports=[dict(port={port})], clusterIP="None"))'
    write(service.format(port=70000))
    assert "must be between 1 and 65535, inclusive" in project.preview(fails=True).text
    write(service.format(port=80).replace("clusterIP", "clustreIP"))
    assert ".spec.clustreIP: field not declared in schema" in project.preview(fails=True).text
    assert kubectl.get("service", "web") is None

    write(service.format(port=80))
    project.preview()
    assert kubectl.get("service", "web") is None, "a dry run leaves nothing behind"
    project.up()
    write(service.format(port=70000))
    assert "must be between 1 and 65535, inclusive" in project.preview(fails=True).text


def test_a_namespace_and_a_kind_may_be_created_in_the_same_update(project: Project, write: Programs) -> None:
    group = f"g{secrets.token_hex(4)}.example.com"
    program = f"""
        space = make("Namespace", "space", dict(name="{group.replace(".", "-")}"))
        inside = make("ConfigMap", "inside", dict(name="inside", namespace=space.metadata["name"]), data={{"key": "1"}})
        schema = dict(type="object", x_kubernetes_preserve_unknown_fields=True)
        crd = make("CustomResourceDefinition", "crd", dict(name="things.{group}"), spec=dict(
            group="{group}", scope="Cluster", names=dict(plural="things", singular="thing", kind="Thing"),
            versions=[dict(name="v1", served=True, storage=True, schema=dict(openAPIV3Schema=schema))]))
        thing = make("Thing", "thing", dict(name="thing"), api="{group}/v1", spec=dict(size=1),
                     opts=opts(depends_on=[crd]))
        pulumi.export("uid", thing.metadata["uid"])
    """
    write(program)
    preview = project.preview()
    assert {preview.operation(name) for name in ("space", "inside", "crd", "thing")} == {"create"}
    # What is wrong with an object shows even while its namespace is yet to come.
    write(program.replace('data={"key": "1"}', 'dta={"key": "1"}'))
    assert ".dta: field not declared in schema" in project.preview(fails=True).text

    write(program)
    project.up()
    assert (project.resource("thing") or {})["id"] == "thing", "a kind outside namespaces gets none"
    again = project.up()
    assert {again.operation(name) for name in ("space", "inside", "crd", "thing")} == {"same"}
    write(program.replace("size=1", "size=2"))
    assert project.up().changed("thing") == ["spec.size"]
    project.destroy()
    assert project.resource("crd") is None


def test_values_that_only_the_cluster_can_give_are_unknown_at_preview(project: Project, write: Programs) -> None:
    write("""
        web = make("Service", "web", meta("web"), spec=dict(type="NodePort", ports=[dict(port=80)]))
        make("ConfigMap", "map", meta("map"), data=dict(
            ip=web.spec["clusterIP"], port=web.spec["ports"][0]["nodePort"].apply(str), uid=web.metadata["uid"],
            status=web.status.apply(str), type=web.spec["type"], policy=web.spec["sessionAffinity"]))
    """)
    project.preview()
    shown = project.preview("--json").stdout
    assert '"policy": "None"' in shown, "defaults are known from the dry run"
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    for key in ("ip", "port", "uid", "status"):
        assert f'"{key}": "{unknown}"' in shown
    project.up()
    stored = project.resource("map") or {}
    assert stored["inputs"]["data"]["ip"].count(".") == 3
