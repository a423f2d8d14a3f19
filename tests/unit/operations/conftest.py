"""A cluster as `operations` sees it through kubectl, and time that passes at once."""

import signal
from collections.abc import Callable, Iterator, Mapping

import pytest

from operations.draining import Limits
from operations.kubectl import PATIENCE, Cluster
from operations.wishes import Wishes
from slurm.hostlist import Hosts
from tests.unit.operations.clock import Clock
from tests.unit.operations.files import BASE
from tests.unit.operations.kubernetes import Kubernetes

NODES = "worker-[0-2],burst-0"

Wish = Callable[..., Wishes]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("progress", "push", "record", "verify", "kubectl"):
        monkeypatch.setattr(f"operations.{module}.time", clock)
    return clock


@pytest.fixture
def bare(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Kubernetes:
    """Nothing is there yet."""
    kubernetes = Kubernetes(clock)
    monkeypatch.setattr("operations.kubectl.subprocess.run", kubernetes.run)
    return kubernetes


@pytest.fixture
def running(bare: Kubernetes) -> Kubernetes:
    """A cluster that runs BASE, verified: three static nodes and a dynamic one."""
    bare.deploy(BASE, NODES)
    return bare


@pytest.fixture
def wish() -> Wish:
    def make(
        files: Mapping[str, str],
        nodes: str = NODES,
        seconds: float = 600,
        on_timeout: str = "fail",
        most: int = 1,
        autoscaled: tuple[str, ...] = (),
        key: str = "",
    ) -> Wishes:
        limits = Limits(seconds, on_timeout)
        domain, allowed = "science.svc.cluster.local", {"worker": most}
        return Wishes(Cluster("science", PATIENCE), files, Hosts.parse(nodes), domain, limits, allowed, autoscaled, key)

    return make


@pytest.fixture
def handlers() -> Iterator[None]:
    """Signals mean afterwards what they meant before."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)
