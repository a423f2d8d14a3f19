"""Stacks as they come out of the program, each deployed once for all tests; and the engine that it asks."""

import pytest

from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy
from tests.unit.components.engine import Engine


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


@pytest.fixture
def healthy() -> Made:
    """A stack whose nodes are looked after."""
    return deploy(**stacks.HEALTHY)


@pytest.fixture
def bridged() -> Made:
    """A stack with pods in Slurm's queue."""
    return deploy(**stacks.BRIDGED)


@pytest.fixture(params=["small", "munge", "slurm", "given", "labelled", "healthy", "bridged"])
def made(request: pytest.FixtureRequest) -> Made:
    """Each of them in turn, for what always holds."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """In a preview."""
    engine = Engine()
    monkeypatch.setattr("pulumi.runtime.invoke", engine.invoke)
    monkeypatch.setattr("components.change.local.run", engine.run)
    monkeypatch.setattr("pulumi.runtime.is_dry_run", lambda: True)
    monkeypatch.setattr("pulumi.log.info", engine.infos.append)
    monkeypatch.setattr("pulumi.log.warn", engine.warnings.append)
    return engine


@pytest.fixture
def update(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """In an update."""
    monkeypatch.setattr("pulumi.runtime.is_dry_run", lambda: False)
    return engine
