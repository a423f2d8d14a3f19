"""A real lab for each test: the one that `lab run` started and named in SLIPWAY_LAB."""

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator

import pytest

from lab import layout
from lab.layout import Lab

Kubectl = Callable[..., str]
STACKS = {
    "bridged",
    "comfort",
    "dev",
    "guarded",
    "ha",
    "health",
    "rest",
    "rollout",
    "spare",
    "turned_on",
    "upgraded",
    "variant",
    "watched",
    "young",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a whole stack comes last: it stays until the end, and leaves no room on the nodes."""
    items.sort(key=lambda item: not STACKS.isdisjoint(getattr(item, "fixturenames", ())))


@pytest.fixture(scope="session")
def lab() -> Lab:
    name = os.environ.get("SLIPWAY_LAB", "")
    found = layout.find(name) if name else None
    assert found, "these tests need a lab: `make test`, or `uv run lab run -- pytest tests/cluster`"
    return found


@pytest.fixture(scope="session")
def kubectl(lab: Lab) -> Kubectl:
    """kubectl as the lab's administrator; raises with what kubectl said."""

    def call(*words: str, stdin: str | None = None, kubeconfig: str | None = None) -> str:
        argv = ["kubectl", "--kubeconfig", kubeconfig or str(lab.kubeconfig), *words]
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=180)
        if done.returncode:
            raise AssertionError(f"{' '.join(argv)}:\n{done.stderr}{done.stdout}")
        return done.stdout

    return call


@pytest.fixture
def namespace(kubectl: Kubectl) -> Iterator[str]:
    name = f"cluster-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="session")
def image() -> str:
    """An image that every node of the lab but the control plane has, with a shell and perl."""
    return os.environ["SLIPWAY_CONTROLLER_IMAGE"]
