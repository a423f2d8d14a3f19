"""Which cluster, as whom, with which settings."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.plugins.kubernetes.configured import _replaces
from lab.plugins.kubernetes.kubeconfig import KubeconfigError, access, load, material
from lab.plugins.kubernetes.options import options
from lab.plugins.server import UNKNOWN


def _config(server: str = "https://one", **more: Any) -> dict[str, Any]:
    return {
        "clusters": [{"name": "c", "cluster": {"server": server, **more}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
        "current-context": "x",
    }


def test_content_path_and_environment_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(_config()))
    for found in (
        load(yaml.safe_dump(_config())),
        load(json.dumps(_config())),
        load(str(path)),
        load(None, {"KUBECONFIG": str(path)}),
    ):
        chosen = access(found)
        assert (chosen.server, chosen.user, chosen.namespace) == ("https://one", {"token": "t"}, "n")
    (tmp_path / ".kube").mkdir()
    path.rename(tmp_path / ".kube" / "config")
    assert access(load(None, {"HOME": str(tmp_path)})).server == "https://one"


def test_several_files_are_merged_and_the_first_wins(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text(yaml.safe_dump(_config("https://one") | {"current-context": ""}))
    two.write_text(yaml.safe_dump(_config("https://two") | {"users": [{"name": "v", "user": {}}]}))
    merged = load(None, {"KUBECONFIG": f"{one}:{tmp_path / 'missing'}:{two}"})
    assert access(merged).server == "https://one"
    assert set(merged.users) == {"u", "v"}


def test_overrides_choose_context_cluster_and_namespace() -> None:
    config = _config()
    config["clusters"].append({"name": "d", "cluster": {"server": "https://two/"}})
    config["contexts"].append({"name": "y", "context": {"cluster": "d", "user": "u"}})
    found = load(json.dumps(config))
    assert access(found, context="y").server == "https://two"
    assert access(found, context="y").namespace == "default"
    assert access(found, cluster="d", namespace="m").namespace == "m"
    with pytest.raises(KubeconfigError, match=r"no context 'z' \(it has: x, y\)"):
        access(found, context="z")
    with pytest.raises(KubeconfigError, match="no cluster 'e'"):
        access(found, cluster="e")


def test_paths_are_meant_from_where_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("PEM")
    (tmp_path / "config").write_text(yaml.safe_dump(_config(**{"certificate-authority": "ca.crt"})))
    assert material(access(load(str(tmp_path / "config"))).cluster, "certificate-authority") == "PEM"
    inline = {"certificate-authority-data": base64.b64encode(b"PEM").decode()}
    assert material(inline, "certificate-authority") == "PEM"
    with pytest.raises(KubeconfigError, match="cannot be read"):
        material({"client-key": str(tmp_path / "missing")}, "client-key")


@pytest.mark.parametrize(
    ("setting", "why"), [("/does/not/exist", "no such file"), ("a: [", "no such file"), ("{", "neither YAML nor JSON")]
)
def test_what_is_no_kubeconfig_is_named(setting: str, why: str) -> None:
    with pytest.raises(KubeconfigError, match=why):
        load(setting)


def test_a_setting_comes_before_its_environment_variable() -> None:
    environment = {"PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE": "true", "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY": "false"}
    assert options({}, {}).server_side_apply
    assert not options({}, {}).config_map_mutable
    assert options({}, environment).config_map_mutable
    assert not options({}, environment).server_side_apply
    assert not options({"enableConfigMapMutable": "false"}, environment).config_map_mutable
    assert options(
        {"enableServerSideApply": "true", "suppressDeprecationWarnings": "true"}, environment
    ).server_side_apply
    assert options({"kubeClientSettings": '{"timeout": 5}'}, {}).client_timeout == 5


def test_a_provider_is_replaced_only_if_it_points_at_another_cluster() -> None:
    one, again, two = (
        {"kubeconfig": json.dumps(config)}
        for config in (_config(), _config() | {"users": [{"name": "u", "user": {}}]}, _config("https://two"))
    )
    assert _replaces(one, again, ["kubeconfig"]) == []
    assert _replaces(one, two, ["kubeconfig"]) == ["kubeconfig"]
    assert _replaces(one, {"kubeconfig": UNKNOWN}, ["kubeconfig"]) == ["kubeconfig"]
    assert _replaces(one, {"kubeconfig": "/does/not/exist"}, ["kubeconfig"]) == []
    named, other = {"clusterIdentifier": "a"}, {"clusterIdentifier": "b"}
    assert _replaces(one | named, two | named, ["kubeconfig"]) == []
    assert _replaces(one | named, one | other, ["clusterIdentifier"]) == ["clusterIdentifier"]
