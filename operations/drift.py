"""`slipway drift`: what somebody has changed in the running cluster, against what was declared.

Declared is what a throwaway slurmctld shows with the files of the last update; running is what the real one shows."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from operations.kubectl import CONFIG_MAP, Cluster
from operations.problem import Problem
from operations.record import Record
from operations.rehearse import altered, rehearse
from operations.shown import SHOW, Shown
from operations.table import table
from operations.verify import NODE_FIELDS, NOT_OF_A_PARTITION, dynamic, misplaced, plain

# Of the daemon itself, and not of its files.
_OWN = re.compile(r"boot_time|hash_val|slurm_conf|slurm_version|next_job_id|slurmctldhost\[\d+\]", re.IGNORECASE)


@dataclass(frozen=True)
class Drift:
    """One thing that runs otherwise than it was declared."""

    object: str
    key: str
    declared: str | None
    running: str | None


def drift(cluster: Cluster) -> tuple[list[Drift], Shown]:
    """What differs, and all that runs."""
    record = Record.read(cluster)
    if record.applied is None:
        raise Problem("Nothing was deployed here yet: run `pulumi up`.")
    declared = rehearse(cluster, record.applied)
    running = Shown.parse(cluster.slurm(SHOW, seconds=120))
    return [*_files(cluster, record.applied), *differences(declared, running)], running


def differences(declared: Shown, running: Shown) -> Iterator[Drift]:
    for key, value in declared.config.items():
        ignored = _OWN.fullmatch(key) or altered(key)
        if not ignored and running.config.get(key) != value:
            yield Drift("slurm.conf", key, value, running.config.get(key))
    yield from _records("partition", declared.partitions, running.partitions, NOT_OF_A_PARTITION)
    for name in declared.partitions:
        if moved := misplaced(name, declared, running):
            yield Drift(f"partition {name}", "Nodes", *moved)
    for name in sorted(declared.nodes.keys() - running.nodes.keys()):
        yield Drift(f"node {name}", "NodeName", name, None)
    for name, fields in running.nodes.items():
        want = declared.nodes.get(name)
        if want is None:
            if not dynamic(fields):
                yield Drift(f"node {name}", "NodeName", None, name)
            continue
        for field in NODE_FIELDS:
            if plain(want.get(field)) != plain(fields.get(field)):
                yield Drift(f"node {name}", field, want.get(field), fields.get(field))


def _records(
    kind: str, declared: dict[str, dict[str, str]], running: dict[str, dict[str, str]], ignored: tuple[str, ...]
) -> Iterator[Drift]:
    for name in dict.fromkeys([*declared, *running]):
        want, have = declared.get(name), running.get(name)
        if want is None or have is None:
            yield Drift(f"{kind} {name}", f"{kind.title()}Name", name if want else None, name if have else None)
            continue
        for field in want:
            if field not in ignored and want[field] != have.get(field):
                yield Drift(f"{kind} {name}", field, want[field], have.get(field))


def _files(cluster: Cluster, applied: Any) -> Iterator[Drift]:
    """What somebody has edited in the ConfigMap, which the next start of slurmctld would read."""
    [written] = [each for each in cluster.list("configmaps") if each["metadata"]["name"] == CONFIG_MAP] or [{}]
    data = written.get("data", {})
    for name in sorted({*applied, *data}):
        if applied.get(name) != data.get(name):
            yield Drift(f"ConfigMap {CONFIG_MAP}", name, "as applied", "edited" if name in data else "removed")


def screen(found: list[Drift]) -> str:
    if not found:
        return "No drift: the cluster runs as it was declared."
    rows = [(each.object, each.key, each.declared or "-", each.running or "-") for each in found]
    return table(("OBJECT", "KEY", "DECLARED", "RUNNING"), rows)


def to_json(found: list[Drift]) -> list[dict[str, Any]]:
    return [asdict(each) for each in found]
