"""Slurm outside Kubernetes gets what the pods have, or the two could not be compared."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from tests.unit.components import stacks
from tests.unit.components.deployed import deploy

BENCH = Path(__file__).parents[3] / "bench"


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benches are scripts, and find each other in their own folder."""
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("outside")


@pytest.mark.parametrize(
    ("name", "cpus"),
    [
        ("controller", 1.5 + 0.05),  # slurmctld and munged; the rehearsal does nothing while jobs run
        ("worker", 4 + 0.05),
        ("login", 2 + 0.1 + 0.05),
    ],
)
def test_a_box_has_the_cpus_of_what_runs_in_its_pod(outside: Any, name: str, cpus: float) -> None:
    spec = deploy(**stacks.RICH).pod("StatefulSet", name).spec
    assert outside.cpus(spec) == pytest.approx(cpus)
