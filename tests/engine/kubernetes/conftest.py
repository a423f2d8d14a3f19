"""Fixtures for tests of the kubernetes plugin: a namespace of the test's own on the cluster that KUBECONFIG names."""

import os
import secrets
import subprocess
from collections.abc import Iterator

import pytest

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project


@pytest.fixture(scope="session", autouse=True)
def _cluster() -> None:
    if not os.environ.get("KUBECONFIG"):
        pytest.fail("these tests need a cluster: run them with `make test`, or `eval $(uv run lab env)` first")
    subprocess.run(["kubectl", "get", "namespace", "default"], check=True, capture_output=True, timeout=60)


@pytest.fixture
def namespace() -> Iterator[str]:
    """A new namespace, which is removed with all that is in it."""
    name = f"engine-{secrets.token_hex(4)}"
    kubectl = Kubectl("default")
    kubectl.run("create", "namespace", name)
    yield name
    kubectl.run("delete", "namespace", name, "--ignore-not-found", "--wait=false")


@pytest.fixture
def kubectl(namespace: str) -> Kubectl:
    return Kubectl(namespace)


@pytest.fixture
def write(project: Project, namespace: str) -> Programs:
    """`write(program)`, with all that programs of these tests begin with."""
    return Programs(project, namespace)


@pytest.fixture(scope="session")
def image() -> str:
    """An image that every node has, with a shell and the usual small tools."""
    image = os.environ.get("SLIPWAY_CONTROLLER_IMAGE")
    if not image:
        pytest.fail("set SLIPWAY_CONTROLLER_IMAGE to an image that is loaded into every node (`make test` does)")
    return image
