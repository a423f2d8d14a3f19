"""A stack of the real program, with no cluster to deploy to."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.plugins.install import install
from tests.engine.policies.stack import Stack

_GRACE = 10.0  # as for other projects


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """An empty stack: nothing is ever deployed, so that all tests of a module can preview it in turn."""
    stack = Stack(tmp_path_factory.mktemp("stack"))
    install(stack.home, Path(sys.executable))
    stack.create_stack()
    yield stack
    left = stack.end_all(_GRACE)
    assert not left, f"still running after the test: {left}"
