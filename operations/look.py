"""`operations/run look`: what a preview asks of the running cluster. If nobody answers, the preview goes on without."""

import json
import os
import sys
from dataclasses import replace
from typing import Any

from operations.accounts import Record as Accounts
from operations.draining import Pending, jobs, pending
from operations.kubectl import Cluster
from operations.nodes import nodes
from operations.prepare import leaving
from operations.problem import Problem
from operations.record import Record
from operations.wishes import Wishes
from slurm.hostlist import Hosts, compress
from slurm.planning.cluster import ALL
from slurm.planning.cluster import Cluster as Declared
from slurm.planning.told import ASKED

SECONDS = 5
API = "SLIPWAY_API"  # a group and version whose kinds are asked for
SLURMDBD_CONF = "slurmdbd.conf"


def look(wishes: Wishes) -> None:
    """One JSON object on stdout."""
    found: dict[str, Any] = {}
    wishes = replace(wishes, cluster=replace(wishes.cluster, patience=0))  # a preview waits for nobody
    try:
        _look(wishes, found)
    except Problem as problem:
        found["unreachable"] = str(problem)
    sys.stdout.write(json.dumps(found))


def _look(wishes: Wishes, found: dict[str, Any]) -> None:
    record = Record.read(wishes.cluster, SECONDS)
    if API in os.environ:
        _kinds(wishes.cluster, os.environ[API], found)
    found |= {"applied": record.applied, "unfinished": bool(record.attempts)}
    if record.applied is None:
        return
    if SLURMDBD_CONF in wishes.files:
        declared = Accounts.read(wishes.cluster, SECONDS)
        found["accounts"] = declared.things
        found["unfinished"] |= declared.unfinished
    planned = record.plan(wishes.files)
    if ASKED in os.environ:
        everywhere = compress(nodes(wishes.cluster))
        found["running"] = [(job.nodes, str(job)) for job in jobs(wishes.cluster, everywhere)] if everywhere else []
    going, partitions = leaving(wishes.cluster, planned, wishes)
    if going or partitions:
        running = jobs(wishes.cluster, str(going), partitions)
        found["waitedFor"] = [str(job) for job in running if job.nodes]
    # What stays may offer less, too: a partition with fewer nodes, or nodes without a feature.
    if going or any(step.object.startswith(("node", "partition ")) for step in planned.steps):
        found["stranded"] = _stranded(wishes.cluster, Declared.read(wishes.files), wishes.nodes)


def _kinds(cluster: Cluster, api: str, found: dict[str, Any]) -> None:
    """The kinds that the API server has of a group: what anybody may ask it. Nothing is said where it does not tell."""
    words = ["get", "--raw", f"/apis/{api}", f"--request-timeout={SECONDS}s"]
    done = cluster.kubectl(*words, seconds=SECONDS + 5)
    if done.returncode == 0:
        found["kinds"] = sorted({each["kind"] for each in json.loads(done.stdout)["resources"]})
    elif "NotFound" in done.stderr or "could not find" in done.stderr:
        found["kinds"] = []


def _stranded(cluster: Cluster, after: Declared, nodes: Hosts) -> list[str]:
    """Jobs that wait for what will not be there any more, each with the reason."""
    reasons = {each: _reason(after, nodes, each) for each in pending(cluster)}
    return [f"{each.job()}: {reason}" for each, reason in reasons.items() if reason]


def _reason(after: Declared, nodes: Hosts, job: Pending) -> str:
    open_to = [name for name in job.partitions.split(",") if name in after.partitions]
    if not open_to:
        return f"no partition {job.partitions} any more"
    if job.named not in ("", "(null)") and (missing := Hosts.parse(job.named) - nodes):
        return f"asks for {missing}"
    # It starts in one of its partitions, so that one is enough which has all that it asks for.
    reasons = [_reason_in(after, name, nodes, job) for name in open_to]
    return reasons[0] if all(reasons) else ""


def _reason_in(after: Declared, partition: str, nodes: Hosts, job: Pending) -> str:
    # Dynamic nodes stand in no line, and count all the same.
    hosts = after.partitions[partition] | (nodes - after.hosts)
    if job.named not in ("", "(null)") and (outside := Hosts.parse(job.named) - hosts):
        return f"asks for {outside}, which {partition} does not have"
    if job.count.isdigit() and int(job.count) > len(hosts):
        return f"asks for {job.count} nodes, and {len(hosts)} are left"
    wanted = job.features.split("|")  # of other expressions only Slurm itself knows what they mean
    if all(each.isidentifier() for each in wanted) and _offered(after, partition, hosts).isdisjoint(wanted):
        return f"asks for a node with {job.features}"
    return ""


def _offered(after: Declared, partition: str, hosts: Hosts) -> set[str]:
    """The features of a partition's nodes; those of a dynamic NodeSet by its line, as its nodes may be yet to come."""
    lines = [*after.conf.nodes.items(), *after.dynamic.items()]
    found = {
        each
        for expression, fields in lines
        if Hosts.parse(expression) & hosts
        for each in fields.get("Features", "").split(",")
    }
    members = after.conf.partitions[partition].get("Nodes", "").split(",")
    named = [fields for name, fields in after.conf.nodesets.items() if name in members or ALL in members]
    return found | {fields.get("Feature", "") for fields in named}
