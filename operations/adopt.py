"""`slipway drift --adopt`: the stack config that keeps what somebody has changed live.

scontrol shows values in words of its own, such as `60 sec`. What is given here is what a stack takes: every value goes
through the settings first, and one that they refuse, or that no config can say, is named with the reason."""

import re
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from config.node_sets import NodeSet
from config.partitions import Partition
from config.slurm import Slurm
from operations.drift import Drift
from operations.shown import Fields, Shown
from operations.verify import NOT_OF_A_PARTITION
from slurm.hostlist import Hosts, compress
from slurm.keys.partitions import PARTITION

_UNIT = re.compile(r"(\d+) (?:sec|min|usec|percent|nodes/min)")
_UNSET = re.compile(r"\(null.*\)|N/A|NONE|GLOBAL|")
_LISTS = {"allowGroups", "allowAccounts", "denyAccounts", "allowQos", "denyQos"}
_SWITCHES = {"YES": True, "NO": False}
_EXCLUSIVE = {"ExclusiveUser": "USER", "ExclusiveTopo": "TOPO"}


class Unable(Exception):  # noqa: N818 -- no error, but an answer
    """Why there is no config for it."""


def adopt(found: list[Drift], running: Shown) -> tuple[dict[str, Any], list[str]]:
    """The stack config that keeps what runs, nested as in a stack file, and what cannot be kept by config, and why."""
    config: dict[str, Any] = {}
    unable: list[str] = []
    for each in found:
        kind, _, name = each.object.partition(" ")
        try:
            match kind:
                case "slurm.conf":
                    _put(config, ("slipway:slurm", "extra", each.key), _cluster_value(each.key, each.running))
                case "partition" if each.key == "PartitionName":
                    _put(config, ("slipway:partitions", name), _created(running, name, each))
                case "partition":
                    for path, value in _field(running, each.key, each.running or ""):
                        _put(config, ("slipway:partitions", name, *path), value)
                case "node":
                    node_set = name.rpartition("-")[0]
                    where = ("slipway:worker",) if node_set == "worker" else ("slipway:nodeSets", node_set)
                    key, value = _of_nodes(found, each, node_set)
                    _put(config, (*where, key), value)
                case _:
                    raise Unable("put it back with `slipway up`, or change the stack config accordingly")
        except Unable as why:
            unable.append(f"{each.object} {each.key}: {why}")
    return config, unable


def _put(config: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        config = config.setdefault(key, {})
    config[path[-1]] = value


def _loads(load: Callable[[Any], object], section: dict[str, Any]) -> None:
    try:
        load(section)
    except ValidationError as problem:
        raise Unable(problem.errors()[0]["msg"]) from None


def _number(text: str) -> Any:
    return int(text) if text.isdigit() else text


def _cluster_value(key: str, running: str | None) -> Any:
    """As slurm.conf takes it. Units that are shown are those in which it is written."""
    if running is None or _UNSET.fullmatch(running):
        raise Unable("it is not set any more: take it out of the stack config")
    unit = _UNIT.fullmatch(running)
    value = _number(unit[1] if unit else running)
    if isinstance(value, str) and re.search(r"[ ()]", value):
        raise Unable(f"{running} is not how slurm.conf takes it: set slurm.extra to what was meant")
    _loads(Slurm.model_validate, {"extra": {key: value}})
    return value


def _created(running: Shown, name: str, each: Drift) -> dict[str, Any]:
    """A partition that is in no file: all of it that is not Slurm's default."""
    if each.running is None:
        raise Unable("it was deleted: take it out of slipway:partitions, and the jobs in it are waited for")
    config: dict[str, Any] = {}
    for field, value in running.partitions[name].items():
        default = field in PARTITION and PARTITION[field].same(None, value)
        ignored = field in ("PartitionName", *NOT_OF_A_PARTITION) and field != "Nodes"
        unset = field != "Nodes" and (_UNSET.fullmatch(value) or value == "UNLIMITED")
        if not (ignored or default or unset):
            for path, said in _field(running, field, value):
                _put(config, path, said)
    return config


def _field(running: Shown, field: str, value: str) -> list[tuple[tuple[str, ...], Any]]:
    """Settings of a partition by their paths, for a field as scontrol shows it."""
    if field == "Nodes":
        return [(("nodeSets",), _node_sets(running.nodes, value))]
    if field in _EXCLUSIVE:
        return [(("exclusive",), _EXCLUSIVE[field])] if value == "YES" else []
    if field == "JobDefaults":
        pairs = [each.partition("=") for each in value.split(",") if "=" in each]
        return [found for key, _, each in pairs for found in _field(running, key, each)]
    known = {each.alias or name for name, each in Partition.model_fields.items()}
    key = next((name for name in known if name.lower() == field.lower()), None)
    if key is None:
        if _UNSET.fullmatch(value):
            raise Unable("it is not set any more: take it out of the stack config")
        _loads(Partition.model_validate, {"extra": {field: value}})
        return [(("extra", field), value)]  # in Slurm's own words
    said = setting(key, value)
    _loads(Partition.model_validate, {key: said})
    return [((key,), said)]


def setting(key: str, value: str) -> Any:
    """A setting of a partition, from the words that Slurm has for its value."""
    if key in _LISTS:
        return [] if value == "ALL" or _UNSET.fullmatch(value) else value.split(",")
    if key == "tresBillingWeights":
        return dict(each.split("=", 1) for each in value.split(",") if "=" in each)
    if key in ("maxTime", "defaultTime", "overSubscribe", "exclusive", "preemptMode", "state"):
        return None if value == "NONE" else value
    if value == "UNLIMITED" or _UNSET.fullmatch(value):
        return None
    if "Mem" in key and value.isdigit():
        return f"{value}Mi"
    return f"{value}s" if key == "graceTime" else _SWITCHES.get(value, _number(value))


def _node_sets(nodes: dict[str, Fields], value: str) -> list[str]:
    """NodeSets by name, if these nodes are all of theirs."""
    have = Hosts() if _UNSET.fullmatch(value) else Hosts.parse(value)
    stems: dict[str, list[str]] = {}
    for name in nodes:
        stems.setdefault(name.rpartition("-")[0], []).append(name)
    sets = {stem: Hosts.parse(compress(names)) for stem, names in stems.items()}
    if not have or any(hosts & have and hosts - have for hosts in sets.values()):
        raise Unable(f"a partition has whole NodeSets, and {value} is none")
    return [stem for stem, hosts in sets.items() if hosts & have]


def _of_nodes(found: list[Drift], one: Drift, node_set: str) -> tuple[str, Any]:
    if one.key == "NodeName":
        raise Unable(
            "set the size of its NodeSet" if one.declared is None else "it is gone: `slipway up` brings it back"
        )
    known = {"AvailableFeatures": "features", "Weight": "weight"}
    if one.key not in known:
        raise Unable("what a node has is told by its NodeSet")
    alike = (each for each in found if each.key == one.key and each.object.rpartition("-")[0] == f"node {node_set}")
    if any(each.running != one.running for each in alike):
        raise Unable("not all nodes of the NodeSet have it so")
    value: Any = _number(one.running or "0")
    if one.key == "AvailableFeatures":
        value = [each for each in (one.running or "").split(",") if each not in ("(null)", node_set)]
    _loads(NodeSet.model_validate, {known[one.key]: value})
    return known[one.key], value
