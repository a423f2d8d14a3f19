"""A cluster that lends its machines to pods: first a machine without a worker, then one with. What Slurm Bridge's own
programs would do is done by a stand-in, with the rights, files and token that they would have."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab import cluster, images
from lab.layout import Lab
from tests.cluster.conftest import Kubectl
from tests.cluster.stacks import Stack, until

MANAGED, UNMANAGED = "bridged-batch", "bridged-other"
SCHEDULER = "slurm-bridge-scheduler"
JOB_ID = "scheduler.slinky.slurm.net/slurm-jobid"
TAINT = "slinky.slurm.net/managed-node"
PARTS = ("scheduler", "controllers", "admission")
NODE = "compute-0"
POOL = "bridged/pool"  # whether the machine has a worker
STAND_IN = Path(__file__).parent / "standin"
CONFIG: dict[str, Any] = {
    "cluster": {"name": "bridged", "namespace": "bridged", "stage": "development"},
    "nodeFilters": {
        "system": {"nodeSelector": {"slipway/role": "system"}},
        "compute": {"nodeSelector": {POOL: "hybrid"}},
    },
    "controller": {"memory": "512Mi", "state": {"storageClass": "standard", "size": "1Gi"}},
    "worker": {"size": 0, "cpus": 2, "memory": "512Mi"},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30422}},
    "partitions": {
        "main": {"nodeSets": ["worker"], "default": True},
        "bridge": {"nodeSets": ["bridge", "worker"]},
    },
    "rest": {"enabled": True},
    "bridge": {
        "enabled": True,
        "managedNamespaces": [MANAGED],
        "partition": "bridge",
        "nodeSets": ["worker"],
        "externalNodes": {"selector": {POOL: "external"}, "max": 2},
        "tokenLifespan": "3m",
    },
}


@dataclass
class Bridged:
    """The stack, and pods that wait in its queue."""

    stack: Stack
    kubectl: Kubectl

    @property
    def own(self) -> str:
        """The namespace of the bridge's own pods."""
        return f"{self.stack.namespace}-bridge"

    def create(
        self, name: str, script: str, namespace: str = MANAGED, told: dict[str, str] | None = None, **spec: Any
    ) -> None:
        """A pod. What Slurm is `told` of it are annotations."""
        made = pod(name, script, **spec)
        annotations = {f"slurmjob.slinky.slurm.net/{key}": value for key, value in (told or {}).items()}
        made["metadata"]["annotations"] = annotations
        self.kubectl("create", "-n", namespace, "-f", "-", stdin=json.dumps(made))

    def get(self, kind: str, name: str, namespace: str = MANAGED) -> dict[str, Any]:
        """An empty one if there is none."""
        said = self.kubectl("get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found")
        return json.loads(said or "{}")

    def wait_for_phase(self, name: str, *phases: str, namespace: str = MANAGED, seconds: float = 60) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.get("pod", name, namespace)
            return found if found.get("status", {}).get("phase") in phases else None

        return until(look, f"pod {name} to be {' or '.join(phases)}", seconds)

    def wait_until_gone(self, name: str, namespace: str = MANAGED, seconds: float = 60) -> None:
        until(lambda: not self.get("pod", name, namespace), f"pod {name} to be gone", seconds)

    def job_of(self, name: str, seconds: float = 40) -> str:
        """The number of the job that waits in the pod's place."""
        told = f"pod {name} to have a job in Slurm's queue"
        return until(lambda: self.get("pod", name).get("metadata", {}).get("labels", {}).get(JOB_ID), told, seconds)

    def wait_for_job(self, number: str, *states: str, seconds: float = 60) -> dict[str, str]:
        """What scontrol shows of the job, once it is in one of the states."""

        def look() -> dict[str, str] | None:
            shown = self.stack.admin("scontrol", "show", "job", "--oneliner", number)
            fields = dict(word.split("=", 1) for word in shown.split() if "=" in word)
            return fields if fields.get("JobState") in states else None

        return until(look, f"job {number} to be {' or '.join(states)}", seconds)

    def slurm_node(self, name: str) -> str:
        """What scontrol shows of a node; nothing if Slurm has none of that name."""
        shown = self.stack.admin("scontrol", "show", "nodes", "--oneliner")
        return next((line for line in shown.splitlines() if line.startswith(f"NodeName={name} ")), "")

    def token(self) -> str:
        """The bridge's, for Slurm."""
        return base64.b64decode(self.get("secret", "bridge-token", self.own)["data"]["auth-token"]).decode()

    def taints(self) -> list[str]:
        return [each["key"] for each in self.get("node", NODE)["spec"].get("taints", [])]

    def pool(self, kind: str) -> None:
        self.kubectl("label", "node", NODE, "--overwrite", f"{POOL}={kind}")


def pod(name: str, script: str, **spec: Any) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": os.environ["SLIPWAY_CONTROLLER_IMAGE"],  # has a shell
        "command": ["sh", "-c", script],
        "resources": {"requests": {"cpu": "100m", "memory": "32Mi"}},
    }
    body = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": body}


def stand_in(lab: Lab) -> str:
    """Its image, which the nodes of the bridge's own pods have."""
    image = images.Image(
        "bridge-stand-in", STAND_IN / "Containerfile", STAND_IN, images.digest(STAND_IN), frozenset({"system"})
    )
    images.Builder().build(image)
    images.load(lab, [image], cluster.ctr())
    return image.reference


@pytest.fixture(scope="package")
def bridged(lab: Lab, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridged]:
    reference = stand_in(lab)
    own = {f"bridge{part.capitalize()}": reference for part in PARTS}
    stack = Stack.create(lab, "bridged", tmp_path_factory.mktemp("bridged"), **CONFIG, images=own)
    found = Bridged(stack, kubectl)
    found.pool("external")
    for namespace in (MANAGED, UNMANAGED):
        kubectl("apply", "-f", "-", stdin=f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}")
    stack.up()
    yield found
    stack.destroy()
    if not os.environ.get("SLIPWAY_KEEP_STACKS"):
        kubectl("delete", "namespace", MANAGED, UNMANAGED, "--timeout=120s")
        kubectl("label", "node", NODE, f"{POOL}-")


@pytest.fixture(scope="package")
def first_token(bridged: Bridged) -> str:
    """Of the bridge: as early as somebody asks for it."""
    return bridged.token()
