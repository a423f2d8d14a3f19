"""A second kind of cluster: Slurm's own authentication, dynamic nodes whose place is a label, two logins, the shared
root in a folder of the nodes, homes on a volume of their own, and data on a claim that was there before."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.stacks import Stack

NODES_FOLDER = "/tmp/hostpath_pv"  # the same on all nodes of the lab, as a file system that they all mount would be
GIVEN = "reference"  # the claim
NOT_ON_THE_CONTROL_PLANE = {"key": "slipway/role", "operator": "In", "values": ["system", "compute"]}

CONFIG: dict[str, Any] = {
    "cluster": {"name": "variant", "namespace": "variant", "auth": "slurm", "stage": "development"},
    "nodeFilters": {
        "system": {"nodeSelector": {"slipway/role": "system"}},
        "compute": {"nodeSelector": {"slipway/role": "compute"}},
        "both": {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [NOT_ON_THE_CONTROL_PLANE]}]
                    }
                }
            }
        },
    },
    "controller": {
        "nodeFilter": "both",
        "standby": True,
        "memory": "512Mi",
        "state": {"storageClass": "standard", "size": "1Gi"},
    },
    "slurm": {"topology": {"plugin": "tree", "switches": {"spine": {"switches": ["rack0"]}}}},
    "worker": {
        "size": 1,
        "cpus": 2,
        "memory": "512Mi",
        "gracePeriod": "20s",
        "gres": {"seat": {"count": 2}},
        "topology": {"switch": "rack0"},
    },
    "nodeSets": {
        "burst": {
            "kind": "dynamic",
            "size": 1,
            "maxSize": 3,
            "memory": "512Mi",
            "gracePeriod": "20s",
            "maxUnavailable": 1,
            "features": ["fast"],
            "gres": {"token": {"count": 4}},
            "topology": {"nodeLabel": "slipway/role", "below": "spine"},
        },
        # Nothing runs of it until there is a job for it.
        "elastic": {
            "size": 3,
            "autoscale": {"idle": "10s", "startTimeout": "2m"},
            "memory": "256Mi",
            "gracePeriod": "15s",
            "topology": {"switch": "rack0"},
        },
    },
    "partitions": {
        "main": {"nodeSets": ["worker"], "default": True, "maxTime": "1-00:00:00"},
        "everything": {"nodeSets": ["worker", "burst"]},
        "elastic": {"nodeSets": ["elastic"]},
    },
    "login": {"size": 2, "service": {"type": "NodePort", "nodePort": 30122}},
    "storage": {
        "jail": {"hostPath": f"{NODES_FOLDER}/variant-jail"},
        "submounts": [
            {"mountPath": "/home", "storageClass": "standard", "size": "5Gi"},
            {"mountPath": "/data/reference", "existingClaim": GIVEN, "readOnly": True},
        ],
        "retain": True,  # else the namespace would have to be new, and a claim could not be in it before
    },
    "monitoring": {"enabled": True},
}


@pytest.fixture(scope="session")
def variant(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("variant")
    stack = Stack.create(lab, "variant", folder, **CONFIG)
    give(stack, folder)
    stack.up()
    yield stack
    stack.destroy()
    if not os.environ.get("SLIPWAY_KEEP_STACKS"):
        shutil.rmtree(lab.home / "volumes" / "variant-jail", ignore_errors=True)


def give(stack: Stack, folder: Path) -> None:
    """What somebody else has made before the stack: a namespace, and a claim in it."""
    claim: dict[str, Any] = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stack.namespace}},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": GIVEN, "namespace": stack.namespace},
            "spec": {**claim, "storageClassName": "standard"},
        },
    ]
    for number, each in enumerate(objects):
        file = folder / f"{number}.json"
        file.write_text(json.dumps(each))
        stack.kubectl("apply", "-f", str(file))
