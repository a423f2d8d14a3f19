"""`operations/run return-nodes`: machines that were lent to the bridge are everyone's again, once it is gone.

Nobody else would do it: the bridge's own controllers put the taint on, and they are no more."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from operations.kubectl import Cluster, last_line
from operations.placeholders import let_go
from operations.problem import Problem
from operations.wishes import PATIENCE

LENT = "slipway/lent"
EXTERNAL = "scheduler.slinky.slurm.net/external-node"
LABELS = (LENT, EXTERNAL, "slinky.slurm.net/slurm-nodename")
ANNOTATIONS = ("scheduler.slinky.slurm.net/external-node-partitions",)
TAINT = "slinky.slurm.net/managed-node"
TRIES = 5
FORGET = """if scontrol show node "$1" > /dev/null 2>&1; then scontrol delete "nodename=$1"; fi"""


def return_nodes(cluster: Cluster, scheduler: str) -> None:
    """All that this cluster has lent. What Slurm does not want to forget is told, and left to people."""
    refused: list[str] = []
    for _ in range(TRIES):
        changes = list(returned(_nodes(cluster), cluster.namespace, scheduler))
        refused = [problem for name, change in changes if (problem := _patch(cluster, name, change))]
        for name, change in changes:
            if change["metadata"]["labels"].get(EXTERNAL, "") is None:
                _forget(cluster, name)
        if not refused:
            return
    raise Problem(f"Machines stay marked as lent to the bridge: {refused[0]}")


def returned(nodes: list[Any], namespace: str, scheduler: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is to be taken off which machine. With the version that it was seen in: taints are changed as a whole."""
    for node in nodes:
        metadata = node["metadata"]
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
        ours = labels.get(LENT) == namespace
        taints = node["spec"].get("taints") or []
        kept = [each for each in taints if not _of_the_bridge(each, ours, scheduler)]
        if not ours and len(kept) == len(taints):
            continue
        change: dict[str, Any] = {
            "metadata": {
                "resourceVersion": metadata["resourceVersion"],
                "labels": _gone(labels, LABELS) if ours else {},
                "annotations": _gone(annotations, ANNOTATIONS) if ours else {},
            },
            "spec": {"taints": kept},
        }
        yield metadata["name"], change


def _of_the_bridge(taint: Mapping[str, str], ours: bool, scheduler: str) -> bool:
    return taint["key"] == TAINT and (ours or taint.get("value") == scheduler)


def _gone(found: Mapping[str, str], keys: tuple[str, ...]) -> dict[str, None]:
    return {key: None for key in keys if key in found}


def _nodes(cluster: Cluster) -> list[Any]:
    shown = cluster.kubectl("get", "nodes", "--output", "json")
    if shown.returncode:
        raise Problem(f"Kubernetes does not show its nodes: {last_line(shown)}")
    return json.loads(shown.stdout)["items"]


def _patch(cluster: Cluster, name: str, change: Mapping[str, Any]) -> str:
    done = cluster.kubectl("patch", "node", name, "--type", "merge", "--patch", json.dumps(change))
    return last_line(done) if done.returncode else ""


def _forget(cluster: Cluster, name: str) -> None:
    """Slurm forgets a node that has no jobs. Its cluster may be gone as well, and then there is nothing to forget."""
    done = cluster.controller(FORGET, name)
    if done.returncode:
        sys.stderr.write(
            f"Slurm still knows the node {name} of the bridge: {last_line(done)}\n"
            f"When its jobs have ended (squeue --nodelist {name}), `scontrol delete nodename={name}` removes it.\n"
        )


def main() -> int:
    cluster, scheduler = Cluster(os.environ["SLIPWAY_NAMESPACE"], PATIENCE), os.environ["SLIPWAY_SCHEDULER"]
    let_go(cluster, scheduler)
    return_nodes(cluster, scheduler)
    return 0
