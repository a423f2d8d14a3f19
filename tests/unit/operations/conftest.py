"""A cluster as `operations` sees it through kubectl."""

from pathlib import Path

import pytest

from tests.unit.operations.kubectl import Kubectl

WANTED = "f" * 64


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    environment = {
        "NAMESPACE": "science",
        "CONFIG": WANTED,
        "NODES": "worker-[0-1]",
        "DOMAIN": "science.svc.cluster.local",
        "MAX_UNAVAILABLE": "worker=1",
        "DRAIN_SECONDS": "600",
        "DRAIN_ON_TIMEOUT": "fail",
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"SLIPWAY_{name}", value)
    return Kubectl(tmp_path)


@pytest.fixture
def serving(kubectl: Kubectl) -> Kubectl:
    """A cluster that has the files and all of its nodes."""
    kubectl.answers("look", f"{WANTED}\nup\n")
    kubectl.answers("sinfo", "worker-0 idle\nworker-1 mixed\n")
    return kubectl
