"""Pods that are still there when the bridge goes: Kubernetes keeps them running, and Slurm's queue no longer holds a
place for them.

Nobody else would do it: the bridge's own controllers end the jobs that stand for pods, and let go of pods that end."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from operations.kubectl import Cluster, last_line
from operations.problem import Problem

FINALIZER = "scheduler.slinky.slurm.net/finalizer"
TRIES = 5
# Jobs that the bridge has submitted name their pods. They have no process: whoever cancels one stops nothing.
CANCEL = r"""
scontrol show jobs --oneliner |
    sed -n -E '/ JobState=(PENDING|RUNNING|SUSPENDED) /s/^JobId=([0-9]+) .* AdminComment=\{"pods":.*/\1/p' |
    xargs --no-run-if-empty --max-args=500 scancel
"""


def let_go(cluster: Cluster, scheduler: str) -> None:
    """Of all pods that wait or run by way of the bridge."""
    refused: list[str] = []
    for _ in range(TRIES):
        changes = list(freed(_pods(cluster, scheduler)))
        refused = [problem for where, name, change in changes if (problem := _patch(cluster, where, name, change))]
        if not refused:
            break
    if refused:
        raise Problem(f"Pods of the bridge cannot be deleted: {refused[0]}")
    done = cluster.controller(CANCEL)
    if done.returncode:  # with the whole cluster gone there is no queue either
        sys.stderr.write(f"Slurm still has jobs that stand for pods of the bridge: {last_line(done)}\n")


def freed(pods: list[Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Namespace, name and change of each. With the version that it was seen in: others have finalizers, too."""
    for pod in pods:
        metadata = pod["metadata"]
        finalizers = metadata.get("finalizers") or []
        if FINALIZER in finalizers:
            kept = [each for each in finalizers if each != FINALIZER]
            change = {"metadata": {"resourceVersion": metadata["resourceVersion"], "finalizers": kept}}
            yield metadata["namespace"], metadata["name"], change


def _pods(cluster: Cluster, scheduler: str) -> list[Any]:
    chosen = f"spec.schedulerName={scheduler}"
    shown = cluster.kubectl("get", "pods", "--all-namespaces", "--field-selector", chosen, "--output", "json")
    if shown.returncode:
        raise Problem(f"Kubernetes does not show the pods of the bridge: {last_line(shown)}")
    return json.loads(shown.stdout)["items"]


def _patch(cluster: Cluster, namespace: str, name: str, change: dict[str, Any]) -> str:
    there = Cluster(namespace, cluster.patience)
    done = there.kubectl("patch", "pod", name, "--type", "merge", "--patch", json.dumps(change))
    return last_line(done) if done.returncode and "not found" not in done.stderr else ""
