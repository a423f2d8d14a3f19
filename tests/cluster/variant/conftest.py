"""A second kind of cluster: Slurm's own authentication, dynamic nodes, two logins, homes on a volume of their own."""

from collections.abc import Iterator
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.stacks import Stack

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
    "worker": {"size": 1, "cpus": 2, "memory": "512Mi", "gracePeriod": "20s", "gres": {"seat": {"count": 2}}},
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
        },
        # Nothing runs of it until there is a job for it.
        "elastic": {
            "size": 3,
            "autoscale": {"idle": "10s", "startTimeout": "2m"},
            "memory": "256Mi",
            "gracePeriod": "15s",
        },
    },
    "partitions": {
        "main": {"nodeSets": ["worker"], "default": True, "maxTime": "1-00:00:00"},
        "everything": {"nodeSets": ["worker", "burst"]},
        "elastic": {"nodeSets": ["elastic"]},
    },
    "login": {"size": 2, "service": {"type": "NodePort", "nodePort": 30122}},
    "storage": {
        "jail": {"storageClass": "standard", "size": "20Gi"},
        "submounts": [
            {"mountPath": "/home", "storageClass": "standard", "size": "5Gi"},
            {"mountPath": "/data/reference", "storageClass": "standard", "size": "1Gi", "readOnly": True},
        ],
        "retain": False,
    },
    "monitoring": {"enabled": True},
}


@pytest.fixture(scope="session")
def variant(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "variant", tmp_path_factory.mktemp("variant"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()
