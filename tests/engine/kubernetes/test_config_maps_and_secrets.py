"""ConfigMaps and Secrets: changed in place or replaced, shown as a diff or not at all."""

import base64
import json

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


def test_a_mutable_config_map_is_changed_in_place_and_shown_line_by_line(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    mutable = {"enable_config_map_mutable": True}
    program = """
        make("ConfigMap", "slurm", meta("slurm"), data={{"slurm.conf": "A=1\\n{line}\\nC=3\\n"}})
        make("ConfigMap", "sealed", meta("sealed"), data={{"key": "{line}"}}, immutable=True)
    """
    write(program.format(line="B=2"), provider=mutable)
    project.up()
    before = kubectl.get("configmap", "slurm")
    write(program.format(line="B=20"), provider=mutable)
    shown = project.preview("--diff")
    assert shown.operation("slurm") == "update"
    assert shown.changed("slurm") == ['data["slurm.conf"]']
    lines = [line.strip() for line in shown.stdout.splitlines()]
    assert "- B=2" in lines
    assert "+ B=20" in lines
    assert "A=1" in lines
    # `immutable: true` is a promise to Kubernetes itself.
    assert shown.operation("sealed") == "replace"

    project.up()
    after = kubectl.get("configmap", "slurm")
    assert before
    assert after
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["data"]["slurm.conf"] == "A=1\nB=20\nC=3\n"


def test_the_environment_makes_config_maps_and_secrets_of_the_default_provider_mutable(
    project: Project, write: Programs
) -> None:
    program = """
        make("ConfigMap", "map", meta("map"), data={{"key": "{value}"}})
        make("Secret", "secret", meta("secret"), stringData={{"key": "{value}"}})
    """
    write(program.format(value="1"))
    project.up()
    write(program.format(value="2"))
    preview = project.preview()
    assert (preview.operation("map"), preview.operation("secret")) == ("replace", "replace")
    variables = {"PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE": "true", "PULUMI_K8S_ENABLE_SECRET_MUTABLE": "true"}
    preview = project.preview(env=variables)
    assert (preview.operation("map"), preview.operation("secret")) == ("update", "update")


def test_the_data_of_a_secret_is_secret_in_state_and_in_what_is_shown(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    mutable = {"enable_secret_mutable": True}
    program = """
        from pulumi_kubernetes import core

        core.v1.Secret("plain", metadata=meta("plain"), string_data={{"password": "{word}"}}, opts=opts())
        encoded = core.v1.Secret("encoded", metadata=meta("encoded"), data={{"password": "{encoded}"}}, opts=opts())
        data = {{"open": "yes", "hidden": encoded.data["password"]}}
        core.v1.ConfigMap("derived", metadata=meta("derived"), data=data, opts=opts())
    """

    def run(word: str) -> str:
        encoded = base64.b64encode(word.encode()).decode()
        write(program.format(word=word, encoded=encoded), provider=mutable)
        said = project.preview("--diff").text + project.up("--diff").text
        assert word not in said
        assert encoded not in said
        for text in (word, encoded):
            assert text not in json.dumps(project.export())
        return encoded

    run("hunter2-very-secret")
    derived = project.resource("derived")
    assert derived
    assert derived["outputs"]["data"]["open"] == "yes", "one secret does not hide the rest"
    encoded = run("correct-horse-battery")
    live = kubectl.get("secret", "plain")
    assert live
    assert live["data"] == {"password": encoded}

    # Somebody changes it behind our back: a refresh sees it, and an update puts it right.
    kubectl.patch("secret", "plain", {"data": {"password": base64.b64encode(b"changed").decode()}})
    assert project.refresh().operation("plain") == "refresh"
    assert project.up().operation("plain") == "update"
    live = kubectl.get("secret", "plain")
    assert live
    assert live["data"] == {"password": encoded}
