"""Another image for everything, while jobs run: in the order that Slurm asks for, and nobody loses a job."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from lab import cluster
from tests.cluster.changes import change, pods
from tests.cluster.stacks import Stack, until


def upgrade(stack: Stack, *order: str) -> None:
    """Of the daemons in this order, and of what only asks them last."""
    old = _images(stack, order)
    new = {role: f"{image}-next" for role, image in old.items()}
    for node in stack.lab.nodes:
        for role in order:
            cluster.tag(stack.lab, node, old[role], new[role])
    running = stack.run("sbatch --parsable -o /dev/null --wrap 'sleep 20'")
    waiting = stack.run(f"sbatch --parsable -o /dev/null --dependency=afterok:{running} --wrap true")
    stack.wait_for_job(running, "RUNNING")
    change(stack, "images", **new)
    stack.up("--skip-preview")
    # Of what only asks, old pods may still be ending.
    until(lambda: _images(stack, order) == new, f"all pods to run {new}", 60)
    for first, then in pairwise(order):
        assert max(_started(stack, first)) <= min(_started(stack, then)), f"{first} before {then}"
    for job in (running, waiting):
        assert stack.wait_for_job(job)["Restarts"] == "0"


def _images(stack: Stack, roles: Sequence[str]) -> dict[str, str]:
    """Which image each kind of pod runs."""
    return {role: pod["spec"]["containers"][0]["image"] for role in roles for pod in _pods(stack, role)}


def _started(stack: Stack, role: str) -> list[datetime]:
    return [datetime.fromisoformat(pod["status"]["startTime"]) for pod in _pods(stack, role)]


def _pods(stack: Stack, role: str) -> list[dict[str, Any]]:
    found = pods(stack, f"app.kubernetes.io/name={role}").values()
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
