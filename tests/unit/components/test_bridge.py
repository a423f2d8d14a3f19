"""Slurm Bridge as a stack deploys it: its processes, what they read, and what becomes of workers and machines."""

from typing import Any

import pytest
import yaml

from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy, is_secret, plain

HOME = "slurm-bridge"
PROCESSES = ("bridge-scheduler", "bridge-controllers", "bridge-admission")


def bridge(**keys: Any) -> Made:
    """The stack with something else in its section."""
    return deploy(**{**stacks.BRIDGED, "bridge": {**stacks.BRIDGED["bridge"], **keys}})


def container(made: Made, name: str) -> dict[str, Any]:
    [found] = made.pod("Deployment", name).containers.values()
    return found


def variables(made: Made, name: str) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container(made, name)["env"]}


def test_a_stack_that_does_not_ask_for_it_has_nothing_of_it(small: Made) -> None:
    names = {each.metadata["name"] for each in small.resources if "metadata" in each.inputs}
    assert not any("bridge" in name for name in names)
    assert "bridge" not in small.outputs
    assert "MCS" not in small.outputs["files"]["slurm.conf"]


def test_its_pods_have_a_namespace_of_their_own_in_which_nothing_privileged_starts(bridged: Made) -> None:
    assert bridged("Namespace", HOME).metadata["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
    assert bridged.outputs["bridge"] == HOME
    for name in PROCESSES:
        assert bridged("Deployment", name).metadata["namespace"] == HOME
        context = container(bridged, name)["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert bridge(namespace="elsewhere")("Deployment", "bridge-scheduler").metadata["namespace"] == "elsewhere"


def test_the_three_processes_are_started_as_the_release_wants_it(bridged: Made) -> None:
    scheduler, controllers, admission = (container(bridged, name) for name in PROCESSES)
    assert scheduler["args"][0] == "--config=/etc/kubernetes/scheduler-config.yaml"
    assert "SchedulerPopFromBackoffQ=false" in scheduler["args"][1]
    assert "--leader-elect=true" in controllers["args"]
    assert admission["args"] == []
    assert scheduler["image"] == "ghcr.io/slinkyproject/slurm-bridge-scheduler:1.2.2"
    assert controllers["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": 8081}
    assert scheduler["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}
    mounts = {each["name"]: each["mountPath"] for each in admission["volumeMounts"]}
    assert mounts["config"] == "/etc/slurm-bridge"
    assert mounts["certificate"] == "/tmp/k8s-webhook-server/serving-certs"
    assert all(each["readOnly"] is True for each in admission["volumeMounts"])


def test_it_is_told_where_slurm_is_and_which_pods_are_its_own(bridged: Made) -> None:
    assert yaml.safe_load(bridged("ConfigMap", "bridge-config").data["config.yaml"]) == {
        "schedulerName": "slurm-bridge-scheduler",
        "slurmRestApi": "http://rest.slurm.svc.cluster.local:6820",
        "managedNamespaces": ["batch", "science"],
        "mcsLabel": "kubernetes",
        "partition": "pods",
    }
    chosen = {"matchLabels": {"slurm": "queue"}, "matchExpressions": [{"key": "team", "operator": "Exists"}]}
    by_label = bridge(managedNamespaces=[], managedNamespaceSelector=chosen)
    config = yaml.safe_load(by_label("ConfigMap", "bridge-config").data["config.yaml"])
    assert config["managedNamespaceSelector"] == chosen
    assert "managedNamespaces" not in config


def test_the_scheduler_is_told_to_ask_the_plugin_and_few_others(bridged: Made) -> None:
    config = yaml.safe_load(bridged("ConfigMap", "bridge-scheduler-config").data["scheduler-config.yaml"])
    [profile] = config["profiles"]
    assert profile["schedulerName"] == "slurm-bridge-scheduler"
    assert profile["plugins"]["multiPoint"] == {"disabled": [{"name": "*"}]}
    asked = {point: [each["name"] for each in found.get("enabled", [])] for point, found in profile["plugins"].items()}
    assert all(
        "SlurmBridge" in asked[point] for point in ("preEnqueue", "preFilter", "filter", "postFilter", "preBind")
    )
    assert asked["bind"] == ["DefaultBinder"]
    leader = config["leaderElection"]
    assert leader == {"leaderElect": True, "resourceNamespace": HOME, "resourceName": "bridge-scheduler"}


def test_processes_restart_for_another_config_and_only_those_that_read_it(bridged: Made) -> None:
    def marks(made: Made) -> list[str]:
        return [made.pod("Deployment", name).metadata["annotations"]["slipway/config"] for name in PROCESSES]

    assert marks(bridge(replicas=2)) == marks(bridged)
    assert all(a != b for a, b in zip(marks(bridge(mcsLabel="other")), marks(bridged), strict=True))


def test_the_token_is_the_stewards_and_only_those_who_ask_slurm_have_it(bridged: Made) -> None:
    secret = bridged("Secret", "bridge-token")
    assert "data" not in secret.inputs
    assert secret.ignored == {"data", "stringData"}
    wanted = {"secretKeyRef": {"name": "bridge-token", "key": "auth-token"}}
    assert variables(bridged, "bridge-scheduler")["SLURM_JWT"] == wanted
    assert variables(bridged, "bridge-controllers")["SLURM_JWT"] == wanted
    assert "SLURM_JWT" not in variables(bridged, "bridge-admission")
    for name in PROCESSES:
        assert "slurm-keys" not in str(bridged.pod("Deployment", name).spec), name


def test_the_steward_has_the_key_for_tokens_and_no_other(bridged: Made) -> None:
    pod = bridged.pod("Deployment", "bridge-steward")
    assert pod.workload.metadata["namespace"] == "slurm"
    [keys] = [volume["secret"] for volume in pod.volumes.values() if "secret" in volume]
    assert [each["key"] for each in keys["items"]] == ["jwt.key"]
    told = variables(bridged, "bridge-steward")
    assert told["TOKEN_SECONDS"] == str(30 * 86400)
    assert told["NODE_SETS"] == "worker"
    assert told["EXTERNAL"] == "pool=batch"
    assert told["PARTITION"] == "pods"
    assert told["READERS"] == "bridge-scheduler,bridge-controllers"
    assert "slipway/jwt-key" in pod.metadata["annotations"], "it makes another token for another key"


def test_its_parts_come_up_in_the_order_in_which_they_need_each_other(bridged: Made) -> None:
    steward = bridged("Deployment", "bridge-steward")
    assert bridged.waits_for(steward, bridged("Deployment", "rest"))
    assert bridged.waits_for(bridged("Deployment", "bridge-scheduler"), steward)
    assert bridged.waits_for(bridged("Deployment", "bridge-controllers"), steward)
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        asks = bridged(kind, "slurm-bridge")
        assert bridged.waits_for(asks, bridged("Deployment", "bridge-admission")), "nobody is asked before it answers"


def test_machines_are_given_back_when_nobody_lends_them_any_more(bridged: Made) -> None:
    lending = bridged.command("dev-bridge-lending")
    assert lending.inputs["delete"] == "operations/run return-nodes"
    assert "create" not in lending.inputs
    for name in ("bridge-steward", "bridge-controllers"):
        assert bridged.waits_for(bridged("Deployment", name), lending), f"{name} must be gone before"


def test_workers_are_not_locked_out_whether_it_is_on_or_off(bridged: Made, small: Made) -> None:
    taint = {"key": "slinky.slurm.net/managed-node", "operator": "Exists", "effect": "NoExecute"}
    for made in (bridged, small):
        assert taint in made.pod("StatefulSet", "worker").spec["tolerations"]


def test_a_lent_worker_leaves_room_for_pods_and_keeps_its_limits(bridged: Made) -> None:
    size = bridged.pod("StatefulSet", "worker").containers["slurmd"]["resources"]
    assert size["requests"] == {"cpu": "100m", "memory": "256Mi"}
    assert size["limits"] == {"cpu": "4", "memory": "8192Mi"}
    off = bridge(enabled=False).pod("StatefulSet", "worker").containers["slurmd"]["resources"]
    assert off["requests"] == off["limits"]


@pytest.mark.parametrize("name", PROCESSES)
def test_only_several_pods_have_a_budget(bridged: Made, name: str) -> None:
    assert name not in bridged.names("PodDisruptionBudget")
    several = bridge(replicas=2)
    assert several("Deployment", name).spec["replicas"] == 2
    budget = several("PodDisruptionBudget", name)
    assert budget.metadata["namespace"] == HOME
    assert budget.spec["maxUnavailable"] == 1


def test_slurm_knows_its_nodes_by_the_name_of_their_partition(bridged: Made) -> None:
    lines = bridged.outputs["files"]["slurm.conf"].splitlines()
    assert "NodeSet=bridge Feature=pods" in lines
    assert "MaxNodeCount=10" in lines
    assert "MCSPlugin=mcs/label" in lines
    [pods] = [line for line in lines if line.startswith("PartitionName=pods")]
    assert " Nodes=worker-[0-1],bridge " in pods
    [main] = [line for line in lines if line.startswith("PartitionName=main")]
    assert " Nodes=worker-[0-1] " in main, "a job of a user has no business on a node without slurmd"


def test_switched_off_it_leaves_slurm_as_it_was() -> None:
    conf = bridge(enabled=False).outputs["files"]["slurm.conf"]
    assert "MCS" not in conf
    assert "bridge" not in conf
    assert "PartitionName=pods Nodes=worker-[0-1] State=UP" in conf


def test_the_certificates_key_is_a_secret_and_its_authority_is_not(bridged: Made) -> None:
    secret = bridged("Secret", "bridge-admission-tls")
    assert secret.inputs["type"] == "kubernetes.io/tls"
    assert is_secret(secret.inputs["data"]) or all(map(is_secret, secret.inputs["data"].values()))
    assert set(plain(secret.inputs["data"])) == {"ca.crt", "tls.crt", "tls.key"}
    made = bridged.command("dev-bridge-certificate")
    assert made.inputs["create"] == "operations/run certificate bridge-admission.slurm-bridge.svc"
    assert made.secret_outputs == {"stdout"}
    assert "create" in made.ignored, "it is made once"
    [webhook] = bridged("ValidatingWebhookConfiguration", "slurm-bridge").inputs["webhooks"]
    assert webhook["clientConfig"]["caBundle"] == "PUBLIC-CA"
