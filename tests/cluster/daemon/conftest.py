"""One slurmctld for all tests of a module, alone or with a slurmd."""

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.daemon import accounting, slurmd
from tests.cluster.daemon.accounting import Slurmdbd
from tests.cluster.daemon.slurmctld import Slurmctld
from tests.cluster.daemon.slurmd import Slurmd

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def own_namespace(kubectl: Kubectl) -> Iterator[str]:
    name = f"slurm-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def slurmctld(kubectl: Kubectl, own_namespace: str) -> Slurmctld:
    return Slurmctld.create(kubectl, own_namespace, os.environ["SLIPWAY_CONTROLLER_IMAGE"])


@pytest.fixture(scope="module")
def worker(kubectl: Kubectl, own_namespace: str) -> Slurmd:
    beside = slurmd.container(os.environ["SLIPWAY_WORKER_IMAGE"])
    return Slurmd(Slurmctld.create(kubectl, own_namespace, os.environ["SLIPWAY_CONTROLLER_IMAGE"], beside))


@pytest.fixture(scope="module")
def slurmdbd(kubectl: Kubectl, own_namespace: str) -> Slurmdbd:
    images = (os.environ["SLIPWAY_ACCOUNTING_IMAGE"], os.environ["SLIPWAY_DATABASE_IMAGE"])
    beside = accounting.containers(*images)
    return Slurmdbd(Slurmctld.create(kubectl, own_namespace, os.environ["SLIPWAY_CONTROLLER_IMAGE"], *beside))
