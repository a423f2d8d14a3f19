"""Fixtures for tests that drive the real Pulumi engine with the plugins under lab/plugins."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.plugins.install import install
from tests.engine.project import Project

# The engine gives a plugin five seconds to end before it kills it.
_GRACE = 10.0


@pytest.fixture(scope="session", autouse=True)
def _pulumi() -> None:
    if shutil.which("pulumi") is None:
        pytest.fail("these tests need `pulumi` on PATH: run them with `make test`, or `eval $(uv run lab env)` first")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project with an empty stack; after the test nothing that it has started may still run."""
    project = Project(tmp_path)
    install(project.home, Path(sys.executable))
    project.create_stack()
    yield project
    left = project.end_all(_GRACE)
    assert not left, f"still running after the test: {left}"
