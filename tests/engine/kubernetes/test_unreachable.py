"""A cluster that does not answer: a preview goes on without it, everything else stops and says what to do."""

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project

_NOWHERE = """
apiVersion: v1
kind: Config
clusters: [{name: gone, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: somebody, user: {token: none}}]
contexts: [{name: gone, context: {cluster: gone, user: somebody}}]
current-context: gone
"""


def test_an_unreachable_cluster_is_a_warning_at_preview_and_an_error_at_update(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    gone = {"KUBECONFIG": str(project.file("gone.yaml", _NOWHERE))}
    program = 'make("ConfigMap", "map", meta("map", labels={{"version": "{version}"}}), data={{"key": "1"}})'

    write(program.format(version=1))
    preview = project.preview(env=gone)
    assert preview.operation("map") == "create"
    warnings = [message for message in preview.diagnostics("warning") if "unreachable" in message]
    assert len(warnings) == 1, "one warning, not one for each resource"
    assert "https://127.0.0.1:1" in warnings[0]
    assert "connection refused" in warnings[0]

    failed = project.up(env=gone, fails=True)
    assert failed.failed == ["map"]
    assert "https://127.0.0.1:1" in failed.text
    assert "correct the provider's `kubeconfig`" in failed.text
    assert project.resource("map") is None

    project.up()
    write(program.format(version=2))
    preview = project.preview(env=gone)
    assert preview.operation("map") == "update"
    assert preview.changed("map") == ["metadata.labels.version"]
    skipped = project.up(env=gone | {"PULUMI_K8S_SKIP_UPDATE_UNREACHABLE": "true"})
    assert skipped.operation("map") == "same"
    assert "PULUMI_K8S_DELETE_UNREACHABLE=true" in project.destroy(env=gone, fails=True).text
    assert "unreachable" in project.refresh(env=gone, fails=True).text
    assert project.resource("map"), "what cannot be asked is not forgotten"
    project.destroy(env=gone | {"PULUMI_K8S_DELETE_UNREACHABLE": "true"})
    assert project.resource("map") is None
    assert kubectl.get("configmap", "map"), "only the state forgot it"


def test_a_kubeconfig_that_cannot_be_used_is_named(project: Project, write: Programs) -> None:
    write('make("ConfigMap", "map", meta("map"))', provider={"context": "misspelt"})
    assert "has no context 'misspelt' (it has: " in project.up(fails=True).text
    write('make("ConfigMap", "map", meta("map"))', provider={"kubeconfig": "/does/not/exist"})
    assert "/does/not/exist" in project.up(fails=True).text
