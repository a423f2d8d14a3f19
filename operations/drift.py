"""`slipway drift`: what somebody has changed in the running cluster, against what was declared.

Declared is what a throwaway slurmctld shows with the files of the last update; running is what the real one shows."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from config.node_sets import NodeSet
from config.partitions import Partition
from operations.kubectl import CONFIG_MAP, Cluster
from operations.problem import Problem
from operations.record import Record
from operations.rehearse import altered, rehearse
from operations.shown import SHOW, Shown
from operations.table import table
from operations.verify import NODE_FIELDS, NOT_OF_A_PARTITION, dynamic, misplaced, plain

# Of the daemon itself, and not of its files.
_OWN = re.compile(r"boot_time|hash_val|slurm_conf|slurm_version|next_job_id|slurmctldhost\[\d+\]", re.IGNORECASE)
_LISTS = {"allowGroups", "allowAccounts", "denyAccounts", "allowQos", "denyQos"}
_SWITCHES = {"YES": True, "NO": False}


@dataclass(frozen=True)
class Drift:
    """One thing that runs otherwise than it was declared."""

    object: str
    key: str
    declared: str | None
    running: str | None


def drift(cluster: Cluster) -> list[Drift]:
    record = Record.read(cluster)
    if record.applied is None:
        raise Problem("Nothing was deployed here yet: run `pulumi up`.")
    declared = rehearse(cluster, record.applied)
    running = Shown.parse(cluster.slurm(SHOW, seconds=120))
    return [*_files(cluster, record.applied), *differences(declared, running)]


def differences(declared: Shown, running: Shown) -> Iterator[Drift]:
    for key, value in declared.config.items():
        ignored = _OWN.fullmatch(key) or altered(key)
        if not ignored and running.config.get(key) != value:
            yield Drift("slurm.conf", key, value, running.config.get(key))
    yield from _records("partition", declared.partitions, running.partitions, NOT_OF_A_PARTITION)
    for name in declared.partitions:
        if moved := misplaced(name, declared, running):
            yield Drift(f"partition {name}", "Nodes", *moved)
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


def adopt(found: list[Drift]) -> tuple[dict[str, Any], list[str]]:
    """The stack config that keeps what runs, nested as in a stack file, and what cannot be kept by config."""
    config: dict[str, Any] = {}
    unable: list[str] = []
    for each in found:
        kind, _, name = each.object.partition(" ")
        if kind == "slurm.conf" and each.running is not None:
            _put(config, ("slipway:slurm", "extra", each.key), each.running)
        elif kind == "partition" and each.declared is not None and each.running is not None:
            _put(config, ("slipway:partitions", name, *_partition_key(each.key)), _value(each.key, each.running))
        elif kind == "node" and _node_key(each.key) and _alike(found, each):
            node_set = name.rpartition("-")[0]
            where = ("slipway:worker",) if node_set == "worker" else ("slipway:nodeSets", node_set)
            _put(config, (*where, _node_key(each.key)), _node_value(node_set, each))
        else:
            unable.append(f"{each.object} {each.key}")
    return config, unable


def _put(config: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        config = config.setdefault(key, {})
    config[path[-1]] = value


def _camel(key: str) -> str:
    return key if key.isupper() else key[0].lower() + key[1:]


def _partition_key(field: str) -> tuple[str, ...]:
    """The setting's own name, or the field's name under `extra`."""
    known = {each.alias or name for name, each in Partition.model_fields.items()}
    found = next((name for name in known if name.lower() == field.lower()), None)
    return (found,) if found else ("extra", field)


def _value(field: str, running: str) -> Any:
    key = _partition_key(field)[0]
    if key == "extra":
        return running  # in Slurm's own words
    if key in _LISTS:
        return [] if running in ("ALL", "(null)") else running.split(",")
    return _SWITCHES.get(running, int(running) if running.isdigit() else running)


def _node_key(field: str) -> str:
    known = {each.alias or name for name, each in NodeSet.model_fields.items()}
    name = {"AvailableFeatures": "features"}.get(field, _camel(field))
    return name if name in known and name in ("features", "weight") else ""


def _node_value(node_set: str, each: Drift) -> Any:
    if each.key == "AvailableFeatures":
        return [feature for feature in (each.running or "").split(",") if feature not in ("(null)", node_set)]
    return int(each.running or 0)


def _alike(found: list[Drift], one: Drift) -> bool:
    """Whether all that drifted of the NodeSet did so in the same way."""
    stem = one.object.rpartition("-")[0]
    return all(
        each.running == one.running for each in found if each.key == one.key and each.object.startswith(f"{stem}-")
    )
