"""What Slurm Bridge may do in Kubernetes, and whose pods it can stand in the way of."""

from typing import Any

import pytest

from components import bridge_rules
from tests.unit.components.deployed import Made
from tests.unit.components.test_bridge import HOME, PROCESSES, bridge

SPARED = ["kube-system", "kube-public", "kube-node-lease", "slurm", HOME]
HOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
ROLES = {
    "scheduler": bridge_rules.SCHEDULER,
    "controllers": bridge_rules.CONTROLLERS,
    "admission": bridge_rules.ADMISSION,
    "steward": bridge_rules.STEWARD_NODES,
}


def webhook(made: Made, kind: str) -> dict[str, Any]:
    [found] = made(kind, "slurm-bridge").inputs["webhooks"]
    return found


@pytest.mark.parametrize("kind", HOOKS)
def test_only_managed_namespaces_are_asked_about(bridged: Made, kind: str) -> None:
    chosen = webhook(bridged, kind)["namespaceSelector"]["matchExpressions"]
    name = "kubernetes.io/metadata.name"
    assert {"key": name, "operator": "In", "values": ["batch", "science"]} in chosen
    assert {"key": name, "operator": "NotIn", "values": SPARED} in chosen


@pytest.mark.parametrize("kind", HOOKS)
def test_no_label_of_a_namespace_makes_slurm_or_kubernetes_wait_for_it(kind: str) -> None:
    chosen = {"matchLabels": {"slurm": "queue"}, "matchExpressions": [{"key": "team", "operator": "Exists"}]}
    selector = webhook(bridge(managedNamespaces=[], managedNamespaceSelector=chosen), kind)["namespaceSelector"]
    assert selector["matchLabels"] == {"slurm": "queue"}
    assert selector["matchExpressions"] == [
        {"key": "team", "operator": "Exists"},
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": SPARED},
    ]


@pytest.mark.parametrize("kind", HOOKS)
def test_what_happens_when_it_does_not_answer_is_said_and_happens_soon(bridged: Made, kind: str) -> None:
    assert webhook(bridged, kind)["failurePolicy"] == "Fail"
    assert webhook(bridged, kind)["timeoutSeconds"] == 5
    assert webhook(bridge(failurePolicy="Ignore"), kind)["failurePolicy"] == "Ignore"
    [rule] = webhook(bridged, kind)["rules"]
    assert rule["resources"] == ["pods"], "what the kubelet says of a pod is no business of its"
    assert rule["operations"] == ["CREATE", "UPDATE"]
    paths = {"MutatingWebhookConfiguration": "/mutate--v1-pod", "ValidatingWebhookConfiguration": "/validate--v1-pod"}
    service = webhook(bridged, kind)["clientConfig"]["service"]
    assert service == {"name": "bridge-admission", "namespace": HOME, "path": paths[kind]}


def test_cert_manager_makes_the_certificate_if_asked_to() -> None:
    made = bridge(certificate={"issuer": "internal-ca"})
    certificate = made("Certificate", "bridge-admission")
    assert certificate.spec["secretName"] == "bridge-admission-tls"
    assert certificate.spec["issuerRef"]["kind"] == "ClusterIssuer"
    assert not any("certificate" in each.name for each in made.of("Command"))
    for kind in HOOKS:
        source = made(kind, "slurm-bridge").metadata["annotations"]["cert-manager.io/inject-ca-from"]
        assert source == f"{HOME}/bridge-admission"
        assert "caBundle" not in webhook(made, kind)["clientConfig"]


@pytest.mark.parametrize("name", ROLES)
def test_each_has_the_rules_that_are_written_down_and_no_others(bridged: Made, name: str) -> None:
    rules = bridged("ClusterRole", f"slurm-bridge-{name}").inputs["rules"]
    camel = {"api_groups": "apiGroups", "resources": "resources", "verbs": "verbs", "resource_names": "resourceNames"}
    assert rules == [{camel[key]: value for key, value in rule.items()} for rule in ROLES[name]]
    binding = bridged("ClusterRoleBinding", f"slurm-bridge-{name}").inputs
    [subject] = binding["subjects"]
    assert (subject["name"], binding["roleRef"]["name"]) == (f"bridge-{name}", f"slurm-bridge-{name}")


def test_nobody_may_do_everything_or_read_secrets_everywhere(bridged: Made) -> None:
    for role in [each for each in bridged.of("ClusterRole") if "bridge" in each.name]:
        for rule in role.inputs["rules"]:
            words = {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}
            assert "*" not in words, role.name
            assert not {"secrets", "nodes/proxy", "pods/exec", "serviceaccounts/token"} & words, role.name
            assert not {"impersonate", "escalate", "bind", "deletecollection"} & words, role.name


def test_the_steward_writes_one_secret_and_restarts_two_deployments(bridged: Made) -> None:
    role = bridged("Role", "bridge-token")
    assert role.metadata["namespace"] == HOME
    secrets, deployments = role.inputs["rules"]
    assert (secrets["resourceNames"], secrets["verbs"]) == (["bridge-token"], ["get", "patch"])
    assert deployments["resourceNames"] == ["bridge-scheduler", "bridge-controllers"]
    pods = bridged("Role", "bridge-steward")
    assert pods.inputs["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]


def test_a_lease_is_taken_in_its_own_namespace_and_by_its_name(bridged: Made) -> None:
    for name, lease in {"scheduler": "bridge-scheduler", "controllers": "69d5fe47.my.slinky.slurm.net"}.items():
        role = bridged("Role", f"bridge-{name}")
        assert role.metadata["namespace"] == HOME
        named = [rule for rule in role.inputs["rules"] if rule.get("resourceNames") == [lease]]
        assert named[0]["verbs"] == ["get", "update", "patch"]
    assert "bridge-admission" not in bridged.names("Role"), "it needs none"


def test_the_only_thing_in_kube_system_is_a_role_of_kubernetes_own(bridged: Made) -> None:
    there = [each for each in bridged.resources if "metadata" in each.inputs]
    [found] = [each for each in there if each.metadata.get("namespace") == "kube-system"]
    assert found.kind == "RoleBinding"
    assert found.inputs["roleRef"]["name"] == "extension-apiserver-authentication-reader"


def test_every_process_has_an_account_of_its_own_that_only_its_pods_show(bridged: Made) -> None:
    for name in PROCESSES:
        account = bridged("ServiceAccount", name)
        assert account.inputs["automountServiceAccountToken"] is False
        assert bridged.pod("Deployment", name).spec["serviceAccountName"] == name
