"""A cluster behind network policies, on nodes that enforce them; and strangers who try its doors."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from lab import paths
from lab.layout import Lab
from tests.cluster.conftest import Kubectl
from tests.cluster.stacks import Stack

# Where people have leave to scrape metrics, where to use the HTTP interface, and where for nothing.
PROMETHEUS, PORTAL, ELSEWHERE = "guarded-prometheus", "guarded-portal", "guarded-elsewhere"
CONFIG: dict[str, Any] = {
    "cluster": {"name": "guarded", "namespace": "guarded", "stage": "development"},
    "network": {"metricsFrom": [PROMETHEUS], "restFrom": [PORTAL]},
    "network.policies": "true",
    "controller": {"memory": "512Mi", "state": {"storageClass": "standard", "size": "1Gi"}},
    "worker": {"cpus": 1, "memory": "512Mi", "gracePeriod": "20s"},
    "worker.size": "2",
    # slurmctld starts its pods through Kubernetes' API.
    "nodeSets": {"elastic": {"size": 1, "memory": "256Mi", "gracePeriod": "15s", "autoscale": {"idle": "10m"}}},
    "partitions": {"main": {"nodeSets": ["worker"], "default": True}, "elastic": {"nodeSets": ["elastic"]}},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30622}},
    "accounting": {
        "enabled": True,
        "mariadb": {"memory": "384Mi", "storage": {"storageClass": "standard", "size": "1Gi"}},
    },
    "rest": {"enabled": True},
    "monitoring": {"enabled": True},
}
DOORS = {  # of which pods, by their label, and where
    "slurmctld": ("controller", 6817),
    "metrics": ("controller", 9341),
    "slurmd": ("worker", 6818),
    "slurmdbd": ("accounting", 6819),
    "mariadb": ("database", 3306),
    "slurmrestd": ("rest", 6820),
    "sshd": ("login", 22),
}
SECONDS = 3  # after which nobody answers any more; in the lab an answer takes milliseconds
# Each with a shell of its own, all at once. A refused connection is an open door, too: something answered.
TRY = """
for door; do (
    name=${{door%%=*}} place=${{door#*=}}
    said=$(timeout {seconds} bash -c "</dev/tcp/$place" 2>&1) && echo "$name" ||
        case $said in *refused*) echo "$name" ;; esac
) & done; wait
"""


@dataclass
class Strangers:
    """Pods that are nobody's, one in each namespace, and what they reach of the cluster."""

    stack: Stack
    kubectl: Kubectl
    places: dict[str, str] = field(default_factory=dict)

    def find_doors(self) -> None:
        """By address: who may look nothing up shall not be kept out by that."""
        for name, (component, port) in DOORS.items():
            label = f"app.kubernetes.io/name={component}"
            pods = json.loads(self.stack.kubectl("get", "pods", "-l", label, "-o", "json"))["items"]
            self.places[name] = f"{pods[0]['status']['podIP']}/{port}"

    def reach(self, namespace: str) -> set[str]:
        """The doors that are open to a pod there."""
        doors = [f"{name}={place}" for name, place in self.places.items()]
        script = TRY.format(seconds=SECONDS)
        return set(self.run(namespace, "bash", "-c", script, "try", *doors).split())

    def all_reach(self, *namespaces: str) -> Mapping[str, set[str]]:
        with ThreadPoolExecutor() as several:
            return dict(zip(namespaces, several.map(self.reach, namespaces), strict=True))

    def run(self, namespace: str, *words: str) -> str:
        return self.kubectl("exec", "stranger", "-n", namespace, "--", *words)

    def token(self) -> str:
        argv = ["slipway", "token", "researcher", "--lifespan", "1h", "--file", str(self.stack.file)]
        done = subprocess.run(argv, cwd=paths.CHECKOUT, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="session")
def guarded(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    wanted = "nodes of this lab enforce no NetworkPolicies: `uv run lab run --network-policies -- pytest …`"
    assert lab.enforces, wanted
    stack = Stack.create(lab, "guarded", tmp_path_factory.mktemp("guarded"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()


@pytest.fixture(scope="session")
def strangers(guarded: Stack, kubectl: Kubectl, image: str) -> Iterator[Strangers]:
    elsewhere = (PROMETHEUS, PORTAL, ELSEWHERE)
    for namespace in elsewhere:
        kubectl("apply", "-f", "-", stdin=f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}")
    everywhere = (*elsewhere, guarded.namespace)
    for namespace in everywhere:
        kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(_stranger(image)))
    for namespace in everywhere:
        kubectl("wait", "-n", namespace, "--for=condition=Ready", "pod/stranger", "--timeout=60s")
    found = Strangers(guarded, kubectl)
    found.find_doors()
    yield found
    kubectl("delete", "pod", "stranger", "-n", guarded.namespace, "--wait=false")
    kubectl("delete", "namespace", *elsewhere, "--wait=false")


def _stranger(image: str) -> dict[str, Any]:
    container = {"name": "shell", "image": image, "command": ["sleep", "infinity"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stranger"},
        "spec": {
            "containers": [container],
            "nodeSelector": {"slipway/role": "compute"},
            "terminationGracePeriodSeconds": 0,
        },
    }
