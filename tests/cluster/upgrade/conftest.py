"""A cluster that the last release has deployed, and that this one takes over while jobs run."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lab.layout import Lab
from operations.report.events import Preview, parse, read
from tests.cluster.rollout.jobs import Jobs
from tests.cluster.stacks import Stack
from tests.cluster.updates import updating
from tests.cluster.upgrade import previous
from tests.cluster.upgrade.holdings import Holdings, leave_files, pod_images

# Nothing of what is new in this release: the file that the last one took is taken as it is.
CONFIG: dict[str, Any] = {
    "cluster": {"name": "upgrade", "namespace": "upgrade", "stage": "development"},
    "controller": {"cpus": "250m", "memory": "512Mi", "state": {"storageClass": "standard", "size": "1Gi"}},
    "worker": {"size": 1, "memory": "512Mi", "gracePeriod": "20s"},
    "nodeSets": {
        "burst": {"kind": "dynamic", "size": 1, "maxSize": 2, "memory": "512Mi", "gracePeriod": "20s"},
        "elastic": {"size": 2, "autoscale": {"idle": "10s"}, "memory": "256Mi", "gracePeriod": "20s"},
    },
    "partitions": {
        "main": {"nodeSets": ["worker", "burst"], "default": True, "maxTime": "1-00:00:00"},
        "elastic": {"nodeSets": ["elastic"]},
    },
    "monitoring": {"enabled": True},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30422}},
    "storage": {
        "jail": {"storageClass": "standard", "size": "20Gi"},
        "submounts": [{"mountPath": "/data", "storageClass": "standard", "size": "1Gi"}],
        "retain": False,
    },
}
EVENTS = {"PULUMI_DEBUG_COMMANDS": "true"}  # gives --event-log


@dataclass(frozen=True)
class Upgraded:
    """The cluster, what it held before, what the engine said that it would do to each resource, and what it did. And
    jobs: long ones on a worker and on a node that Slurm had started for it, which ran until the update waited for them
    and for nothing else, one that waited for the first, and one that was held all the time."""

    stack: Stack
    before: Holdings
    preview: Preview
    update: Preview
    jobs: Jobs
    long: str
    elastic: str
    waiting: str
    held: str


@pytest.fixture(scope="session")
def deployed(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with tempfile.TemporaryDirectory(prefix="slipway-previous-") as checkout, ThreadPoolExecutor() as pool:
        folder = Path(checkout)
        previous.unpack(folder)
        installed = pool.submit(previous.install, folder)
        images = previous.load_images(lab, folder)
        installed.result()
        stack = Stack.create(lab, "upgrade", tmp_path_factory.mktemp("upgrade"), **CONFIG)
        done = replace(stack, code=folder).pulumi("up", "--yes", "--skip-preview", seconds=600, **images)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(pod_images(stack).values()) <= set(images.values())
    yield stack
    stack.destroy()


@pytest.fixture(scope="session")
def upgraded(deployed: Stack, tmp_path_factory: pytest.TempPathFactory) -> Upgraded:
    logs = tmp_path_factory.mktemp("events")
    leave_files(deployed)
    before = Holdings.look(deployed)
    jobs = Jobs(deployed)
    jobs.start()
    long = jobs.submit(None, "--nodelist=worker-0")
    elastic = jobs.submit(None, "--partition=elastic")
    waiting = jobs.submit(1, f"--dependency=afterok:{long}")
    held = jobs.submit(1, "--hold")
    assert all((long, elastic, waiting, held)), jobs.submitted
    deployed.wait_for_job(long, "RUNNING")
    deployed.wait_for_job(elastic, "RUNNING")
    preview = events(deployed, logs / "preview", "preview")
    with updating(deployed, "--event-log", str(logs / "update"), **EVENTS) as update:
        for job in (elastic, long):
            update.until_it_says(f"for 1 job: {job}", 300)
            jobs.tell_to_end(job)
        assert update.end() == 0, update.said
    deployed.kubectl("rollout", "status", "statefulset/login", "--timeout=2m", seconds=150)  # which nobody waits for
    return Upgraded(deployed, before, preview, told(logs / "update"), jobs, long, elastic, waiting, held)


def events(stack: Stack, log: Path, *words: str) -> Preview:
    """What the engine tells of a command that must succeed."""
    done = stack.pulumi(*words, "--event-log", str(log), seconds=600, **EVENTS)
    assert done.returncode == 0, done.stdout + done.stderr
    return told(log)


def told(log: Path) -> Preview:
    return read(parse(log.read_text().splitlines(), str(log)))
