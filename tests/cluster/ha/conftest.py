"""A cluster that does without any one machine of its control plane."""

from collections.abc import Iterator
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.stacks import Stack

# Controllers on both machines, and the one that is asked first on the machine without workers and logins.
PREFERRED = {"matchExpressions": [{"key": "slipway/role", "operator": "In", "values": ["system"]}]}
EITHER = {"matchExpressions": [{"key": "slipway/role", "operator": "In", "values": ["system", "compute"]}]}

CONTROLLER = {
    "nodeFilter": "either",
    "memory": "512Mi",
    "state": {"storageClass": "standard", "size": "1Gi"},
}
CONFIG: dict[str, Any] = {
    "cluster": {"name": "ha", "namespace": "ha", "stage": "development"},
    "nodeFilters": {
        "compute": {"nodeSelector": {"slipway/role": "compute"}},
        "system": {"nodeSelector": {"slipway/role": "system"}},
        "either": {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [EITHER]},
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": PREFERRED}],
                }
            }
        },
    },
    "controller": {**CONTROLLER, "backup": True, "takeover": "15s"},
    "worker": {"size": 2, "memory": "512Mi", "gracePeriod": "20s"},
    "login": {"size": 1, "nodeFilter": "compute", "service": {"type": "NodePort", "nodePort": 30222}},
}


@pytest.fixture(scope="session")
def ha(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "ha", tmp_path_factory.mktemp("ha"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()


@pytest.fixture(scope="module")
def spare(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The same with one controller only, and room for it on the other machine."""
    config = CONFIG | {
        "cluster": {"name": "spare", "namespace": "spare", "stage": "development"},
        "controller": {**CONTROLLER, "standby": True},
        "worker": {"size": 1, "memory": "256Mi", "gracePeriod": "20s"},
        "login": {"size": 1, "nodeFilter": "compute", "service": {"type": "NodePort", "nodePort": 30223}},
    }
    stack = Stack.create(lab, "spare", tmp_path_factory.mktemp("spare"), **config)
    stack.up()
    yield stack
    stack.destroy()
