"""Stacks as they come out of the program, each deployed once for all tests."""

import pytest

from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy


@pytest.fixture
def small() -> Made:
    """A stack that says next to nothing."""
    return deploy(**stacks.SMALL)


@pytest.fixture
def munge() -> Made:
    """A stack with everything, and munge."""
    return deploy(**stacks.RICH)


@pytest.fixture
def slurm() -> Made:
    """A stack with everything, Slurm's own authentication, and what `munge` leaves out."""
    return deploy(**stacks.SLURM)


@pytest.fixture
def given() -> Made:
    """A stack on volumes that exist already."""
    return deploy(**stacks.GIVEN)


@pytest.fixture
def labelled() -> Made:
    """A stack with a NodeSet that asks Kubernetes where its nodes are."""
    return deploy(**stacks.LABELLED)


@pytest.fixture(params=["small", "munge", "slurm", "given", "labelled"])
def made(request: pytest.FixtureRequest) -> Made:
    """Each of them in turn, for what always holds."""
    return request.getfixturevalue(request.param)
