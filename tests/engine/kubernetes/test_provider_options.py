"""Settings of the provider: which cluster, which namespace, how objects are written; and what it does not do."""

import json
import os
import subprocess
from typing import Any

import pytest
import yaml

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


@pytest.fixture
def kubeconfig() -> dict[str, Any]:
    """The content of the cluster's own kubeconfig, with everything in it."""
    done = subprocess.run(["kubectl", "config", "view", "--raw", "-o", "json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def test_a_provider_takes_its_kubeconfig_as_content_and_a_changed_one_replaces_only_with_another_cluster(
    project: Project, write: Programs, namespace: str, kubectl: Kubectl, kubeconfig: dict[str, Any]
) -> None:
    current = next(item for item in kubeconfig["contexts"] if item["name"] == kubeconfig["current-context"])
    cluster = next(item for item in kubeconfig["clusters"] if item["name"] == current["context"]["cluster"])
    kubeconfig["contexts"].append({"name": "here", "context": current["context"] | {"namespace": namespace}})
    kubeconfig["contexts"].append({"name": "nowhere", "context": current["context"] | {"cluster": "missing"}})
    kubeconfig["current-context"] = "nowhere"
    program = 'make("ConfigMap", "map", dict(name="map"), data={"key": "1"})'
    no_environment = {"KUBECONFIG": "/does/not/exist"}

    # The namespace comes from the context, since neither the object nor the provider gives one.
    write(program, provider={"kubeconfig": yaml.safe_dump(kubeconfig), "context": "here"})
    project.up(env=no_environment)
    assert kubectl.get("configmap", "map")

    # JSON instead of YAML, another user and another context, but the same cluster: nothing to replace.
    kubeconfig["contexts"].append({"name": "again", "context": current["context"] | {"namespace": "default"}})
    same = {"kubeconfig": json.dumps(kubeconfig), "context": "again", "namespace": namespace}
    write(program, provider=same)
    changed = project.preview(env=no_environment)
    assert changed.operation("cluster") == "update"
    assert changed.operation("map") == "same"

    kubeconfig["clusters"].append(
        {"name": "elsewhere", "cluster": cluster["cluster"] | {"server": "https://127.0.0.1:1"}}
    )
    write(program, provider=same | {"kubeconfig": json.dumps(kubeconfig), "cluster": "elsewhere"})
    changed = project.preview(env=no_environment)
    assert changed.operation("cluster") == "replace"
    assert changed.operation("map") == "replace"


def test_the_default_namespace_is_for_objects_that_name_none_and_live_in_one(
    project: Project, write: Programs, namespace: str, kubectl: Kubectl
) -> None:
    program = f"""
        make("ConfigMap", "map", dict(name="map"), data={{"key": "1"}})
        make("ConfigMap", "elsewhere", dict(name="{namespace}", namespace="default"), data={{"key": "1"}})
        make("PriorityClass", "class", dict(name="{namespace}"), value=1)
        pulumi.export("done", True)
    """
    write(program, provider={"namespace": namespace, "kubeconfig": os.environ["KUBECONFIG"]})
    project.up()
    ids = {name: (project.resource(name) or {}).get("id") for name in ("map", "elsewhere", "class")}
    assert ids == {"map": f"{namespace}/map", "elsewhere": f"default/{namespace}", "class": namespace}
    assert kubectl.get("configmap", "map")
    project.destroy()
    assert kubectl.get("priorityclass", namespace) is None
    assert Kubectl("default").get("configmap", namespace) is None


def test_without_server_side_apply_objects_are_created_and_patched(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    plain = {"enable_server_side_apply": False, "enable_config_map_mutable": True}
    write('make("ConfigMap", "map", meta("map"), data={"kept": "1", "gone": "1"})', provider=plain)
    project.preview()
    project.up()
    live = kubectl.get("configmap", "map")
    assert live
    assert live["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "pulumi"}
    assert {entry["operation"] for entry in live["metadata"]["managedFields"]} == {"Update"}
    kubectl.patch("configmap", "map", {"data": {"theirs": "1"}})
    write('make("ConfigMap", "map", meta("map"), data={"kept": "2"})', provider=plain)
    assert project.up().operation("map") == "update"
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"kept": "2", "theirs": "1"}

    # Server-side apply takes over the fields, so that it can take away what the program no longer has.
    write('make("ConfigMap", "map", meta("map"), data={"new": "3"})', provider={"enable_config_map_mutable": True})
    project.preview()
    project.up()
    live = kubectl.get("configmap", "map")
    assert live
    assert live["data"] == {"new": "3", "theirs": "1"}


def test_a_credential_plugin_and_a_token_are_as_good_as_a_certificate(
    project: Project, write: Programs, kubectl: Kubectl, kubeconfig: dict[str, Any]
) -> None:
    kubectl.run("create", "serviceaccount", "deployer")
    grant = f"--serviceaccount={kubectl.namespace}:deployer"
    kubectl.run("create", "rolebinding", "deployer", "--clusterrole=edit", grant)
    token = kubectl.run("create", "token", "deployer").strip()
    status = json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                         "status": {"token": token}})  # fmt: skip
    kubeconfig["users"] = [
        {"name": "token", "user": {"token": token}},
        {"name": "plugin", "user": {"exec": {"command": "echo", "args": [status], "apiVersion": "v1"}}},
    ]
    cluster = kubeconfig["clusters"][0]["name"]
    kubeconfig["contexts"] = [
        {"name": name, "context": {"cluster": cluster, "user": name}} for name in ("token", "plugin")
    ]
    for name in ("token", "plugin"):
        write(
            f'make("ConfigMap", "{name}", meta("{name}"), data=dict(key="1"))',
            provider={"kubeconfig": json.dumps(kubeconfig), "context": name},
        )
        project.up()
        assert kubectl.get("configmap", name)
    # What that user may not do is said by the API server, before anything is changed where a dry run can tell.
    write(
        'make("ConfigMap", "elsewhere", dict(name="x", namespace="kube-system"), data=dict(key="1"))',
        provider={"kubeconfig": json.dumps(kubeconfig), "context": "token"},
    )
    project.preview()
    failed = project.up(fails=True)
    assert f'User "system:serviceaccount:{kubectl.namespace}:deployer" cannot' in failed.text


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ('"ConfigMap", "x", meta("x"), token="kubernetes:core/v1:ConfigMapPatch"', "Patch resources are not supported"),
        ('"Release", "x", meta("x"), token="kubernetes:helm.sh/v3:Release"', "Helm releases and charts are not"),
        ('"ConfigMapList", "x", meta("x"), items=[]', "a list is no object of its own"),
    ],
    ids=["patch", "helm", "list"],
)
def test_what_only_the_real_plugin_can_do_is_refused(
    project: Project, write: Programs, resource: str, said: str
) -> None:
    write(f"make({resource})")
    assert said in project.preview(fails=True).text


def test_a_setting_that_only_the_real_plugin_has_is_refused(project: Project, write: Programs) -> None:
    write('make("ConfigMap", "map", meta("map"))', provider={"render_yaml_to_directory": "out"})
    assert "rendering YAML files" in project.preview(fails=True).text
