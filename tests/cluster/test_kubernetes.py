"""The lab's Kubernetes is a real one: nodes, network, names, rights, and nodes that lose power."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from lab import golang
from lab.daemons import CONTROL_PLANE_TAINT
from lab.layout import NODE_PORTS, Lab
from lab.node import CPUS

Kubectl = Callable[..., str]
GREET = (
    "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalPort => 8080, Listen => 5, ReuseAddr => 1); "
    'while (my $c = $s->accept) { print $c "you are ", $c->peerhost, "\\n"; close $c }'
)


def pod(name: str, image: str, role: str, command: list[str] | None = None) -> dict[str, object]:
    container = {"name": "main", "image": image, "command": command or ["sleep", "infinity"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "nodeSelector": {"slipway/role": role},
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }


def apply(kubectl: Kubectl, namespace: str, *objects: dict[str, object]) -> None:
    kubectl(
        "apply", "-n", namespace, "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    )


def wait_ready(kubectl: Kubectl, namespace: str, *pods: str) -> None:
    kubectl("wait", "-n", namespace, "--for=condition=Ready", "--timeout=120s", *(f"pod/{name}" for name in pods))


def test_every_node_is_ready_with_its_role_and_version(lab: Lab, kubectl: Kubectl) -> None:
    nodes = {node["metadata"]["name"]: node for node in json.loads(kubectl("get", "nodes", "-o", "json"))["items"]}
    assert sorted(nodes) == sorted(node.name for node in lab.nodes)
    for node in lab.nodes:
        found = nodes[node.name]
        assert found["metadata"]["labels"]["slipway/role"] == node.role
        assert found["status"]["nodeInfo"]["kubeletVersion"] == golang.KUBERNETES.version
        ready = [each for each in found["status"]["conditions"] if each["type"] == "Ready"]
        assert ready[0]["status"] == "True"
    taints = nodes["control-plane"]["spec"]["taints"]
    assert [(taint["key"], taint["effect"]) for taint in taints] == [(CONTROL_PLANE_TAINT, "NoSchedule")]
    assert CONTROL_PLANE_TAINT in nodes["control-plane"]["metadata"]["labels"]


def test_nodes_promise_more_cpus_than_the_machine_has_and_pods_see_the_machine(
    kubectl: Kubectl, namespace: str, image: str
) -> None:
    capacity = kubectl("get", "nodes", "-o", "jsonpath={.items[*].status.allocatable.cpu}")
    assert set(capacity.split()) == {str(CPUS)}
    plain, privileged = pod("plain", image, "compute"), json.loads(json.dumps(pod("privileged", image, "compute")))
    privileged["spec"]["containers"][0] |= {
        "securityContext": {"privileged": True},
        "resources": {"limits": {"cpu": str(CPUS - 2), "memory": "64Mi"}},
    }
    apply(kubectl, namespace, plain, privileged)
    wait_ready(kubectl, namespace, "plain", "privileged")
    online = Path("/sys/devices/system/cpu/online").read_text()
    for name in ("plain", "privileged"):
        seen = kubectl("exec", "-n", namespace, name, "--", "sh", "-c", "nproc; cat /sys/devices/system/cpu/online")
        assert seen == f"{os.cpu_count()}\n{online}"


def test_pods_on_two_nodes_see_each_others_own_address_by_name(kubectl: Kubectl, namespace: str, image: str) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "greeter"},
        "spec": {"selector": {"app": "greeter"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    greeter = pod("greeter", image, "compute", ["perl", "-e", GREET])
    apply(kubectl, namespace, greeter, service, pod("far", image, "system"), pod("near", image, "compute"))
    wait_ready(kubectl, namespace, "greeter", "far", "near")
    for caller in ("far", "near"):
        own = kubectl("get", "pod", "-n", namespace, caller, "-o", "jsonpath={.status.podIP}")
        ask = f"exec 3<>/dev/tcp/greeter.{namespace}.svc/80; cat <&3"
        assert kubectl("exec", "-n", namespace, caller, "--", "bash", "-c", ask) == f"you are {own}\n"


def test_a_name_that_does_not_exist_is_refused_at_once(kubectl: Kubectl, namespace: str, image: str) -> None:
    apply(kubectl, namespace, pod("asker", image, "system"))
    wait_ready(kubectl, namespace, "asker")
    for name in ("missing.example.org", "missing.default.svc.cluster.local"):
        script = f"begin=$(date +%s%N); getent hosts {name}; echo $? $(( ($(date +%s%N) - begin) / 1000000 ))"
        code, milliseconds = kubectl("exec", "-n", namespace, "asker", "--", "bash", "-c", script).split()
        assert code == "2"
        assert int(milliseconds) < 2000


def test_a_node_port_answers_on_the_labs_loopback_address(
    lab: Lab, kubectl: Kubectl, namespace: str, image: str
) -> None:
    port = NODE_PORTS[-1]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "greeter"},
        "spec": {
            "type": "NodePort",
            "selector": {"app": "greeter"},
            "ports": [{"port": 80, "targetPort": 8080, "nodePort": port}],
        },
    }
    apply(kubectl, namespace, pod("greeter", image, "compute", ["perl", "-e", GREET]), service)
    wait_ready(kubectl, namespace, "greeter")
    deadline = time.monotonic() + 30
    while True:
        try:
            with socket.create_connection((lab.loopback, port), timeout=5) as connection:
                assert connection.recv(100).startswith(b"you are ")
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_a_claim_gets_a_volume_that_all_nodes_share(kubectl: Kubectl, namespace: str, image: str) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "shared"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
    }

    def mounted(name: str, role: str, script: str) -> dict[str, object]:
        made = json.loads(json.dumps(pod(name, image, role, ["bash", "-c", script])))
        made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "shared"}}]
        made["spec"]["containers"][0] |= {
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "securityContext": {"runAsUser": 0},
        }
        return made

    reader = "until grep -q hello /v/file 2>/dev/null; do sleep 0.1; done; touch /tmp/seen; sleep infinity"
    apply(kubectl, namespace, claim, mounted("reader", "system", reader))
    apply(kubectl, namespace, mounted("writer", "compute", "echo hello > /v/file; sleep infinity"))
    wait_ready(kubectl, namespace, "reader", "writer")
    wait = "for i in $(seq 300); do [ -e /tmp/seen ] && exit 0; sleep 0.1; done; exit 1"
    kubectl("exec", "-n", namespace, "reader", "--", "bash", "-c", wait)


def test_a_node_may_not_read_what_does_not_concern_it(lab: Lab, kubectl: Kubectl) -> None:
    as_node = str(lab.home / "pki" / "node-system-0.kubeconfig")
    assert "system-0" in kubectl("get", "node", "system-0", kubeconfig=as_node)
    with pytest.raises(AssertionError, match="forbidden"):
        kubectl("get", "secrets", "-A", kubeconfig=as_node)
    with pytest.raises(AssertionError, match="forbidden"):
        kubectl("label", "node", "compute-0", "slipway/role=system", "--overwrite", kubeconfig=as_node)


def test_nobody_gets_in_without_a_certificate(lab: Lab) -> None:
    authority = str(lab.home / "pki" / "ca.crt")
    assert requests.get(f"{lab.server}/api/v1/nodes", verify=authority, timeout=10).status_code in (401, 403)
    kubelet = f"https://{lab.node('system-0').address}:10250/pods"
    assert requests.get(kubelet, verify=authority, timeout=10).status_code == 401


def test_a_node_without_power_is_noticed_and_its_pods_run_again_when_it_is_back(
    lab: Lab, kubectl: Kubectl, namespace: str, image: str
) -> None:
    def power(action: str) -> None:
        argv = [sys.executable, "-m", "lab.cli", "--name", lab.name, "node", action, "compute-0"]
        subprocess.run(argv, check=True, capture_output=True, timeout=180)

    apply(kubectl, namespace, pod("survivor", image, "compute"))
    wait_ready(kubectl, namespace, "survivor")
    power("stop")
    try:
        kubectl("wait", "--for=condition=Ready=unknown", "--timeout=120s", "node/compute-0")
    finally:
        power("start")
    kubectl("wait", "--for=condition=Ready", "--timeout=120s", "node/compute-0")
    restarts = ["get", "pod", "-n", namespace, "survivor", "-o", "jsonpath={.status.containerStatuses[0].restartCount}"]
    deadline = time.monotonic() + 120
    while kubectl(*restarts) == "0":
        assert time.monotonic() < deadline, kubectl("describe", "pod", "-n", namespace, "survivor")
        time.sleep(0.2)
    wait_ready(kubectl, namespace, "survivor")
