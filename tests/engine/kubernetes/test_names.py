"""Names, and the order of a replacement that follows from them."""

import re

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project, Result


def _order(result: Result, name: str) -> list[str]:
    return [operation for operation, step in result.steps if step == name]


def test_an_unnamed_object_gets_a_name_and_keeps_it_until_it_is_replaced(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    write("""
        auto = make("ConfigMap", "auto", meta(), data={"key": "1"})
        pulumi.export("name", auto.metadata["name"])
    """)
    project.up()
    first = project.outputs()["name"]
    assert re.fullmatch(r"auto-[0-9a-f]{8}", first)
    live = kubectl.get("configmap", first)
    assert live
    assert live["metadata"]["annotations"]["pulumi.com/autonamed"] == "true"

    write("""
        auto = make("ConfigMap", "auto", meta(labels={"changed": "yes"}), data={"key": "1"})
        pulumi.export("name", auto.metadata["name"])
    """)
    assert project.up().operation("auto") == "update"
    assert project.outputs()["name"] == first

    # The data of a ConfigMap is immutable unless the provider is told otherwise: a new one, under a new name, first.
    write("""
        auto = make("ConfigMap", "auto", meta(labels={"changed": "yes"}), data={"key": "2"})
        pulumi.export("name", auto.metadata["name"])
    """)
    replaced = project.up()
    assert _order(replaced, "auto") == ["create-replacement", "replace", "delete-replaced"]
    second = project.outputs()["name"]
    assert second != first
    assert second in kubectl.names("configmap")
    assert first not in kubectl.names("configmap")


def test_an_object_with_a_fixed_name_is_deleted_before_it_is_replaced(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    write('make("ConfigMap", "fixed", meta("fixed"), data={"key": "1"})')
    project.up()
    before = kubectl.get("configmap", "fixed")
    write('make("ConfigMap", "fixed", meta("fixed"), data={"key": "2"})')
    assert project.preview().operation("fixed") == "replace"
    assert kubectl.get("configmap", "fixed") == before, "a preview changes nothing"
    assert _order(project.up(), "fixed") == ["delete-replaced", "replace", "create-replacement"]
    after = kubectl.get("configmap", "fixed")
    assert before
    assert after
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["data"] == {"key": "2"}

    # Under another name there can be two for a moment.
    write('make("ConfigMap", "fixed", meta("other"), data={"key": "2"})')
    assert _order(project.up(), "fixed") == ["create-replacement", "replace", "delete-replaced"]
    assert kubectl.get("configmap", "fixed") is None


def test_a_stack_may_choose_another_pattern_for_names(project: Project, write: Programs, namespace: str) -> None:
    write("""
        auto = make("ConfigMap", "auto", meta(), data={"key": "1"})
        pulumi.export("name", auto.metadata["name"])
    """)
    project.config("pulumi:autonaming.pattern", "${name}-of-${project}", path=True)
    project.up()
    assert project.outputs()["name"] == "auto-of-engine-test"
