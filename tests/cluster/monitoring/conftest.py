"""A cluster that is watched, deployed where nobody knows of PodMonitors yet, and the Prometheus that watches it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.conftest import Kubectl
from tests.cluster.monitoring.prometheus import Prometheus, running
from tests.cluster.stacks import Stack

CRDS = Path(__file__).parent / "crds.yaml"
CONFIG: dict[str, Any] = {
    "cluster": {"name": "watched", "namespace": "watched", "stage": "development"},
    "worker": {"size": 2, "memory": "512Mi", "gracePeriod": "20s"},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30322}},
    # The disk of any machine is fuller than one percent.
    "monitoring": {"enabled": True, "interval": "15s", "alerts": {"jailPercent": 1, "queueStuck": "1h"}},
}


@pytest.fixture(scope="package")
def watched(lab: Lab, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "watched", tmp_path_factory.mktemp("watched"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()
    kubectl("delete", "--ignore-not-found", "-f", str(CRDS))


@pytest.fixture(scope="package")
def prometheus(watched: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with running(watched, tmp_path_factory.mktemp("prometheus")) as found:
        yield found
