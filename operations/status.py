"""`slipway status`: pods, nodes, queue and configuration of a cluster on one screen."""

from collections import Counter
from typing import Any

from operations.digest import DIGEST, digest
from operations.kubectl import ACCOUNTING, CONTROLLER, Cluster, name_of
from operations.nodes import Node, parse
from operations.record import Record
from operations.shown import SHOW, Shown
from operations.table import table

PODS = "app.kubernetes.io/part-of=slipway"
ALL = SHOW + f"echo '=== queue'; squeue --noheader --format='%T|%P'; echo '=== digest'; {DIGEST}\n"
_BUSY = {"ALLOCATED", "MIXED", "COMPLETING"}


def status(cluster: Cluster) -> dict[str, Any]:
    """Everything that the screen shows, as plain values."""
    pods = [pod for pod in cluster.list("pods", PODS) if pod["spec"].get("restartPolicy") == "Always"]
    record = Record.read(cluster)
    answer = cluster.controller(ALL)
    parts = _parts(answer.stdout) if answer.returncode == 0 else {}
    nodes = parse(parts.get("nodes", ""))
    queue = [line.split("|") for line in parts.get("queue", "").splitlines() if "|" in line]
    shown = Shown.parse(answer.stdout) if parts.get("config") else None
    return {
        "namespace": cluster.namespace,
        "slurmctld": {"up": bool(shown), "since": shown.config.get("BOOT_TIME") if shown else None},
        "slurmdbd": _slurmdbd(pods),
        "config": {
            "applied": digest(record.applied)[:12] if record.applied else None,
            "mounted": parts.get("digest", "").strip()[:12] or None,
            "unfinished": bool(record.attempts),
        },
        "pods": [_pod(pod) for pod in pods],
        "nodes": [
            {"name": each.name, "state": "+".join(sorted(each.states)), "reason": each.reason}
            for each in nodes.values()
        ],
        "nodeSets": _node_sets(pods, nodes),
        "partitions": _partitions(shown, queue),
        "queue": dict(Counter(state for state, _ in queue)),
    }


def screen(found: dict[str, Any]) -> str:
    config, slurmctld = found["config"], found["slurmctld"]
    verified = "an update did not end: run `pulumi up`" if config["unfinished"] else "verified"
    lines = [
        f"namespace {found['namespace']}, config {config['applied'] or '(none)'} ({verified})",
        f"slurmctld is up since {slurmctld['since']}"
        if slurmctld["up"]
        else f"slurmctld in {CONTROLLER} does not answer",
        *_accounting(found["slurmdbd"]),
        "",
        table(
            ("NODESET", "PODS", "NODES", "IDLE", "BUSY", "DRAINED", "DOWN"),
            [
                (
                    name,
                    f"{each['ready']}/{each['pods']}",
                    *(each[key] for key in ("nodes", "idle", "busy", "drained", "down")),
                )
                for name, each in found["nodeSets"].items()
            ],
        ),
        "",
        table(
            ("PARTITION", "STATE", "NODES", "RUNNING", "PENDING"),
            [
                (each["name"], each["state"], each["nodes"], each["running"], each["pending"])
                for each in found["partitions"]
            ],
        ),
    ]
    troubled = [each for each in found["nodes"] if each["reason"] or "NOT_RESPONDING" in each["state"]]
    if troubled:
        rows = [(each["name"], each["state"], each["reason"]) for each in troubled[:10]]
        lines += ["", table(("NODE", "STATE", "REASON"), rows)]
        lines += [f"and {len(troubled) - 10} more"] if len(troubled) > 10 else []
    unready = [each for each in found["pods"] if not each["ready"]]
    if unready:
        lines += [
            "",
            table(("POD", "PHASE", "WHERE"), [(each["name"], each["phase"], each["node"]) for each in unready[:10]]),
        ]
    return "\n".join(lines)


def _slurmdbd(pods: list[dict[str, Any]]) -> dict[str, bool] | None:
    """Whether slurmdbd answers; None where there is no accounting."""
    [answers, *_] = [_pod(pod)["ready"] for pod in pods if name_of(pod) == ACCOUNTING] or [None]
    return None if answers is None else {"up": answers}


def _accounting(slurmdbd: dict[str, bool] | None) -> list[str]:
    if slurmdbd is None:
        return []
    if slurmdbd["up"]:
        return ["slurmdbd is up"]
    return [f"slurmdbd in {ACCOUNTING} does not answer: jobs go on, and are recorded when it is back"]


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in text.split("=== ")[1:]:
        name, _, rest = part.partition("\n")
        parts[name] = rest
    return parts


def _pod(pod: dict[str, Any]) -> dict[str, Any]:
    statuses = pod["status"].get("containerStatuses", [])
    return {
        "name": name_of(pod),
        "node": pod["spec"].get("nodeName", ""),
        "phase": "Terminating" if pod["metadata"].get("deletionTimestamp") else pod["status"].get("phase", ""),
        "ready": bool(statuses) and all(each["ready"] for each in statuses),
        "restarts": sum(each["restartCount"] for each in statuses),
    }


def _node_sets(pods: list[dict[str, Any]], nodes: dict[str, Node]) -> dict[str, dict[str, int]]:
    sets: dict[str, dict[str, int]] = {}
    for pod in pods:
        if name := pod["metadata"]["labels"].get("slipway/node-set"):
            found = sets.setdefault(name, Counter(pods=0, ready=0, nodes=0, idle=0, busy=0, drained=0, down=0))
            found["pods"] += 1
            found["ready"] += _pod(pod)["ready"]
    for name, node in nodes.items():
        found = sets.setdefault(
            name.rpartition("-")[0], Counter(pods=0, ready=0, nodes=0, idle=0, busy=0, drained=0, down=0)
        )
        found["nodes"] += 1
        found[_kind(node)] += 1
    return sets


def _kind(node: Node) -> str:
    if not node.responds:
        return "down"
    if node.drained:
        return "drained"
    return "busy" if node.states & _BUSY else "idle"


def _partitions(shown: Shown | None, queue: list[list[str]]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "state": fields.get("State", ""),
            "nodes": int(fields.get("TotalNodes", "0")),
            "running": sum(state == "RUNNING" and name in where.split(",") for state, where in queue),
            "pending": sum(state == "PENDING" and name in where.split(",") for state, where in queue),
        }
        for name, fields in (shown.partitions if shown else {}).items()
    ]
