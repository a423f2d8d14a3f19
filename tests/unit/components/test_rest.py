"""slurmrestd's pods, and how programs reach them."""

from typing import Any

import pytest

from components.rest import _read_at_start, _url
from config import ConfigProblems, Settings
from slurm.render import render
from tests.unit.components.deployed import Made, deploy, plain, settings_of

ON: dict[str, Any] = {"rest": {"enabled": True}}


@pytest.fixture(params=["munge", "slurm", "given"])
def rest(request: pytest.FixtureRequest) -> Made:
    return request.getfixturevalue(request.param)


def slurmrestd(made: Made) -> dict[str, Any]:
    [container] = made.pod("Deployment", "rest").containers.values()
    assert container["name"] == "slurmrestd"
    return container


def test_a_stack_that_does_not_ask_for_it_has_nothing_of_it(small: Made) -> None:
    names = {each.metadata["name"] for each in small.resources if "metadata" in each.inputs}
    assert "rest" not in names
    assert "rest" not in small.outputs
    assert "tokenKey" not in small.outputs["deployed"]
    assert "jwt" not in small.outputs["files"]["slurm.conf"]


def test_it_is_neither_root_nor_slurm_and_can_change_nothing(rest: Made) -> None:
    context = slurmrestd(rest)["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"]) == (64032, 64032)
    assert context["runAsNonRoot"] is True
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}


def test_it_is_given_slurm_conf_and_no_key(rest: Made) -> None:
    pod = rest.pod("Deployment", "rest")
    config, users = (volume["configMap"] for volume in pod.volumes.values())
    assert config == {"name": "slurm-config", "items": [{"key": "slurm.conf", "path": "slurm.conf"}]}
    assert users["name"] == "rest-users"
    assert [each["path"] for each in users["items"]] == ["passwd", "group"]
    assert all(mount["readOnly"] is True for mount in slurmrestd(rest)["volumeMounts"])
    assert pod.spec["automountServiceAccountToken"] is False
    assert not any("key" in name for name in pod.metadata["annotations"])


def test_it_knows_users_and_groups_by_their_names(munge: Made) -> None:
    known = plain(munge("ConfigMap", "rest-users").inputs["data"])
    assert known["users"].splitlines()[0] == "alice:x:10001:20001::/:/usr/sbin/nologin"
    assert set(known["groups"].splitlines()) == {"physics:x:20001:", "bob:x:10002:"}


def test_an_update_waits_until_slurmctld_has_a_new_key_for_tokens(munge: Made, small: Made) -> None:
    assert plain(munge.command("hpc-roll").inputs["environment"])["SLIPWAY_TOKEN_KEY"]
    assert "SLIPWAY_TOKEN_KEY" not in plain(small.command("dev-roll").inputs["environment"])


def test_it_comes_when_slurmctld_takes_tokens(rest: Made) -> None:
    name = rest.settings.cluster.name
    assert rest.waits_for(rest("Deployment", "rest"), rest.command(f"{name}-apply"))


def test_there_is_one_more_before_there_is_one_less(munge: Made) -> None:
    spec = munge("Deployment", "rest").spec
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    [spread] = munge.pod("Deployment", "rest").spec["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"] == spec["selector"]["matchLabels"]


def test_little_is_set_aside_and_an_answer_may_take_more(munge: Made, slurm: Made) -> None:
    resources = slurmrestd(munge)["resources"]
    assert resources == {"requests": {"cpu": "2", "memory": "64Mi"}, "limits": {"cpu": "2", "memory": "512Mi"}}
    resources = slurmrestd(slurm)["resources"]
    assert resources == {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}


def test_probes_need_no_good_token(rest: Made) -> None:
    container = slurmrestd(rest)
    for probe, path in (("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        asked = container[probe]["httpGet"]
        assert (asked["path"], asked["port"]) == (path, 6820)
        assert asked["httpHeaders"] == [{"name": "X-SLURM-USER-TOKEN", "value": "none"}]


def test_it_restarts_for_what_it_knows_from_the_file_alone() -> None:
    def digest(**keys: Any) -> str:
        return deploy(**ON, **keys).pod("Deployment", "rest").metadata["annotations"]["slipway/slurm-conf"]

    before = digest()
    assert digest(worker={"size": 7}, partitions={"other": {"nodeSets": ["worker"], "default": True}}) == before
    assert digest(slurm={"extra": {"MessageTimeout": 99}}) != before
    conf = render(settings_of(**ON))["slurm.conf"]
    assert _read_at_start(conf + "# a remark\n") == _read_at_start(conf) != _read_at_start(conf + "TCPTimeout=9\n")


def test_a_service_leads_to_it(munge: Made, slurm: Made, given: Made) -> None:
    balanced = munge("Service", "rest").spec
    assert balanced["ports"] == [{"name": "http", "port": 80, "targetPort": 6820}]
    assert balanced["loadBalancerSourceRanges"] == ["192.0.2.0/24"]
    assert balanced["selector"] == munge("Deployment", "rest").spec["selector"]["matchLabels"]
    assert slurm("Service", "rest").spec["type"] == "ClusterIP"
    assert given("Service", "rest").spec["type"] == "NodePort"


def test_an_ingress_has_tls(slurm: Made, munge: Made) -> None:
    ingress = slurm("Ingress", "rest")
    assert ingress.spec["tls"] == [{"hosts": ["slurm.example.com"], "secretName": "rest-tls"}]
    assert ingress.spec["ingressClassName"] == "nginx"
    [rule] = ingress.spec["rules"]
    assert rule["host"] == "slurm.example.com"
    [path] = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": "rest", "port": {"name": "http"}}
    assert ingress.metadata["annotations"]["cert-manager.io/cluster-issuer"] == "letsencrypt"
    assert munge.of("Ingress") == []


def test_the_stack_says_where_it_is(munge: Made, slurm: Made, given: Made) -> None:
    assert munge.outputs["rest"] == "http://192.0.2.10:80"
    assert slurm.outputs["rest"] == "https://slurm.example.com"
    assert given.outputs["rest"] == "http://<any node>:31234"
    assert _url(settings_of(**ON), ({"ports": [{}]}, {})) == "http://rest.slurm.svc.cluster.local:6820"


def test_an_image_is_asked_for_where_it_is_enabled() -> None:
    images = {f"SLIPWAY_{role}_IMAGE": "localhost/x:1" for role in ("CONTROLLER", "WORKER", "LOGIN", "JAIL")}
    assert Settings.load({"slipway:rest": '{"enabled": false}'}, images)
    with pytest.raises(ConfigProblems, match=r"slipway:images\.rest: no image is named"):
        Settings.load({"slipway:rest": '{"enabled": true}'}, images)
