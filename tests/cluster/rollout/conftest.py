"""A cluster that is changed again and again while jobs run on it."""

from collections.abc import Iterator
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.rollout.jobs import Jobs
from tests.cluster.stacks import Stack

CONFIG: dict[str, Any] = {
    "cluster": {"name": "rollout", "namespace": "rollout", "stage": "development"},
    "nodeFilters": {
        "system": {"nodeSelector": {"slipway/role": "system"}},
        "compute": {"nodeSelector": {"slipway/role": "compute"}},
        "side": {"nodeSelector": {"slipway/role": "system"}},  # workers have filters of their own
    },
    "worker": {"size": 2, "memory": "512Mi", "gracePeriod": "30s"},
    # Beside the workers, on other machines: what happens to those is none of its business.
    "nodeSets": {"side": {"size": 1, "nodeFilter": "side", "memory": "512Mi"}},
    "partitions": {
        "main": {"nodeSets": ["worker", "side"], "default": True, "maxTime": "1-00:00:00"},
        "side": {"nodeSets": ["side"], "priorityTier": 100},  # jobs of main are never before its own
    },
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30222}},
    "drain": {"timeout": "4m", "onTimeout": "fail"},
}


@pytest.fixture(scope="session")
def rollout(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "rollout", tmp_path_factory.mktemp("rollout"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()


@pytest.fixture
def jobs(rollout: Stack) -> Iterator[Jobs]:
    """Jobs that come all the time. At the end each has run once, and to its end."""
    stream = Jobs(rollout)
    stream.start()
    yield stream
    stream.finish()
