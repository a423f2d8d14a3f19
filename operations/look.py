"""`operations/run look`: what a preview asks of the running cluster. If nobody answers, the preview goes on without."""

import json
import sys
from typing import Any

from operations.draining import PENDING, Job, jobs
from operations.kubectl import Cluster
from operations.prepare import leaving
from operations.problem import Problem
from operations.record import Record
from operations.wishes import Wishes
from slurm.hostlist import Hosts
from slurm.planning.cluster import Cluster as Declared

SECONDS = 5


def look(wishes: Wishes) -> None:
    """One JSON object on stdout."""
    found: dict[str, Any] = {}
    try:
        _look(wishes, found)
    except Problem as problem:
        found["unreachable"] = str(problem)
    sys.stdout.write(json.dumps(found))


def _look(wishes: Wishes, found: dict[str, Any]) -> None:
    record = Record.read(wishes.cluster, SECONDS)
    found |= {"applied": record.applied, "unfinished": record.attempt is not None}
    if record.applied is None:
        return
    going, partitions = leaving(wishes.cluster, record.plan(wishes.files), wishes)
    if going or partitions:
        running = jobs(wishes.cluster, str(going), partitions)
        found["waitedFor"] = [str(job) for job in running if job.nodes]
        found["stranded"] = _stranded(wishes.cluster, Declared.read(wishes.files), wishes.nodes)


def _stranded(cluster: Cluster, after: Declared, nodes: Hosts) -> list[str]:
    """Jobs that wait for what will not be there any more, each with the reason."""
    found = []
    for line in cluster.slurm(PENDING).splitlines():
        number, user, wanted, count, named, feature = line.split("|")
        reason = _reason(after, nodes, wanted.split(","), count, named, feature)
        if reason:
            found.append(f"{Job(number, user, 'PENDING', wanted, '')}: {reason}")
    return found


def _reason(after: Declared, nodes: Hosts, wanted: list[str], count: str, named: str, feature: str) -> str:
    open_to = [name for name in wanted if name in after.partitions]
    if not open_to:
        return f"no partition {','.join(wanted)} any more"
    if named not in ("", "(null)") and (missing := Hosts.parse(named) - nodes):
        return f"asks for {missing}"
    # Dynamic nodes stand in no line, and count all the same.
    most = max(len(after.partitions[name] | (nodes - after.hosts)) for name in open_to)
    if count.isdigit() and int(count) > most:
        return f"asks for {count} nodes, and {most} are left"
    lines = [*after.conf.nodes.values(), *after.dynamic.values()]
    offered = {each for fields in lines for each in fields.get("Features", "").split(",")}
    offered |= {fields.get("Feature", "") for fields in after.conf.nodesets.values()}
    if feature.isidentifier() and feature != "null" and feature not in offered:
        return f"asks for a node with {feature}"
    return ""
