"""One slurmctld for all tests of a module."""

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.daemon.slurmctld import Slurmctld

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def slurmctld(kubectl: Kubectl) -> Iterator[Slurmctld]:
    namespace = f"slurm-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", namespace)
    yield Slurmctld.create(kubectl, namespace, os.environ["SLIPWAY_CONTROLLER_IMAGE"])
    kubectl("delete", "namespace", namespace, "--wait=false")
