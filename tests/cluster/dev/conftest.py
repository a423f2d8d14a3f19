"""The dev stack, deployed once for all tests of this folder, as `make up` deploys it."""

from collections.abc import Iterator

import pytest

from lab.layout import Lab
from tests.cluster.stacks import Stack


@pytest.fixture(scope="session")
def dev(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "dev", tmp_path_factory.mktemp("dev"))
    stack.up()
    yield stack
    stack.destroy()
