"""Two clusters with accounting: one that gets it while jobs run, and one that has it from its first day."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.changes import change
from tests.cluster.stacks import Stack, until

ACCOUNTING: dict[str, Any] = {
    "enabled": True,
    "mariadb": {"memory": "384Mi", "storage": {"storageClass": "standard", "size": "1Gi"}},
    "purge": {"jobs": "12months"},
    "archive": {"records": ["jobs"], "storage": {"storageClass": "standard", "size": "1Gi"}},
    "enforce": ["associations", "limits", "qos", "safe"],
    "qos": {
        "short": {"maxWall": "10m", "maxSubmitJobsPerUser": 2, "flags": ["DenyOnLimit"], "description": "Short jobs"},
        "large": {
            "priority": 10,
            "maxTresPerUser": {"cpu": 16, "mem": 65536},
            "grpTres": {"node": 4},
            "preempt": ["short"],
        },
    },
    "accounts": {
        "physics": {"parent": "science", "users": ["researcher"], "qos": ["normal", "short"]},
        "science": {"description": "Faculty of Science", "fairshare": 10},
    },
    "administrators": ["manager"],
}
CONFIG: dict[str, Any] = {
    "cluster": {"name": "accounted", "namespace": "accounted", "stage": "development"},
    "controller": {"cpus": "250m", "memory": "512Mi", "state": {"storageClass": "standard", "size": "1Gi"}},
    "worker": {"size": 1, "cpus": 2, "memory": "512Mi", "gracePeriod": "20s"},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30322}},
    "users": [
        {"name": "researcher", "uid": 10001},
        {"name": "guest", "uid": 10002},
        {"name": "manager", "uid": 10003},
    ],
}


@dataclass(frozen=True)
class TurnedOn:
    """A stack that has got accounting, what the preview and the update said, and jobs of before: two that ran on."""

    stack: Stack
    preview: str
    said: str
    running: str
    waiting: str


def submit(stack: Stack, words: str, user: str | None = None) -> str:
    return stack.run(f"sbatch --parsable -o /dev/null {words}", user=user)


def recorded(stack: Stack, job: str, state: str = "COMPLETED", seconds: float = 90) -> dict[str, str]:
    """Until a researcher's sacct shows the job in this state."""
    fields = ("Account", "User", "QOS", "State")

    def look() -> dict[str, str] | None:
        shown = stack.ssh(f"sacct --noheader --parsable2 --allocations --jobs={job} --format={','.join(fields)}").stdout
        found: dict[str, str] = dict(zip(fields, shown.strip().split("|"), strict=False))
        return found if found.get("State") == state else None

    return until(look, f"sacct to show job {job} as {state}", seconds)


@pytest.fixture(scope="session")
def turned_on(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TurnedOn]:
    stack = Stack.create(lab, "accounted", tmp_path_factory.mktemp("accounted"), **CONFIG)
    stack.up()
    running = submit(stack, "--ntasks=1 --wrap 'sleep 60'")
    waiting = submit(stack, "--ntasks=2 --wrap 'sleep 1'")
    stack.wait_for_job(running, "RUNNING")
    change(stack, "accounting", **ACCOUNTING)
    preview = stack.pulumi("preview")
    done = stack.up()
    yield TurnedOn(stack, preview.stdout + preview.stderr, done.stdout + done.stderr, running, waiting)
    stack.destroy()


@pytest.fixture
def accounted(turned_on: TurnedOn) -> Stack:
    return turned_on.stack
