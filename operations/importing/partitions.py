"""Partitions, of which the nodes are whole NodeSets here."""

import re
from typing import Any

from config.partitions import ALL, Partition
from config.slurm_keys import PARTITION_KEYS
from operations.adopt import setting
from operations.importing.draft import Draft
from operations.importing.field import Taking
from slurm.hostlist import expand

_EXCLUSIVE = {"exclusiveuser": "USER", "exclusivetopo": "TOPO"}
_KEYS = {(field.alias or name).lower(): field.alias or name for name, field in Partition.model_fields.items()}
WHOLE = "a partition has whole NodeSets here: split the NodeSet if some of its nodes must stay out"


def partition(taking: Taking, name: str, fields: dict[str, Any], nodes: list[str] | None = None) -> None:
    """One partition, in Slurm's words."""
    if name.upper() == "DEFAULT":
        taking.left("a line of defaults; say it in each partition", "PartitionName=DEFAULT")
        return
    named = _name(taking, name)
    at = f"partitions.{named}"
    if nodes is None:
        text = next((str(value) for key, value in fields.items() if key.lower() == "nodes"), ALL)
        nodes = [text] if "[" in text else text.split(",")
    taking.put(_members(taking, nodes), f"{at}.nodeSets")
    for key, value in fields.items():
        if key.lower() not in ("nodes", "partitionname"):
            _field(taking, at, key, value)


def _name(taking: Taking, name: str) -> str:
    """`all` and `default` have meanings of their own in Slipway."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", name) and name.lower() not in ("all", "default"):
        return name
    wanted = re.sub(r"[^A-Za-z0-9_-]", "-", f"{name}-nodes").lstrip("-_")
    if name.lower() == "all" and not _has_main(taking):
        wanted = "main"
    taking.adapted(f"`{name}` is no name for a partition here: it is `{wanted}` now, in job scripts too")
    return wanted


def _has_main(taking: Taking) -> bool:
    """Whether another partition of the source has that name."""
    sets = [taking.tree.at(part) for part in ("partitions", "nodesets")]
    named = any("main" in each for each in sets if isinstance(each, dict))
    return named or re.search(r"PartitionName=main\b", str(taking.value), re.IGNORECASE) is not None


def _members(taking: Taking, names: list[str]) -> list[str]:
    draft = taking.draft
    if any(name.upper() == ALL for name in names):
        return [ALL]
    members: dict[str, int] = {}  # NodeSets, and how many of their nodes are named
    for name in names:
        for host in [name] if name in draft.names else _hosts(name) or [name]:
            node_set = host if host in draft.names else host.rpartition("-")[0]
            if node_set not in draft.names:
                taking.adapted(f"there is no NodeSet for `{name}` in the source: see which the partition should have")
                break
            whole = draft.get(*draft.node_set(node_set), "size") if host == node_set else None
            members[node_set] = members.get(node_set, 0) + (whole if isinstance(whole, int) else 1)
    if any(draft.get(*draft.node_set(each), "size") not in (None, named) for each, named in members.items()):
        taking.adapted(WHOLE)
    return [draft.names[each] for each in members] or [ALL]


def _hosts(text: str) -> list[str]:
    try:
        return expand(text)
    except ValueError:
        return []


def _field(taking: Taking, at: str, key: str, value: Any) -> None:
    """One field of a partition: a setting of its own, or one of `extra`."""
    folded = key.lower()
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value).strip()
    said = {True: "YES", False: "NO"}.get(value, text) if isinstance(value, bool) else text
    said = said.upper() if said.upper() in ("YES", "NO", "UNLIMITED", "INFINITE", "NONE", ALL) else said
    if folded in _EXCLUSIVE:
        taking.put(_EXCLUSIVE[folded] if said == "YES" else None, f"{at}.exclusive")
    elif folded in ("oversubscribe", "shared") and said.upper() == "EXCLUSIVE":
        taking.put("NODE", f"{at}.exclusive")
    elif folded == "jobdefaults":
        for each in said.split(","):
            inner, _, amount = each.partition("=")
            _field(taking, at, inner, amount)
    elif folded in _KEYS and folded not in ("extra", "nodesets"):
        found = setting(_KEYS[folded], said)
        taking.put(None if found is False or found in ([], {}) else found, f"{at}.{_KEYS[folded]}")
    elif folded in PARTITION_KEYS.known:
        taking.put(int(said) if said.isdecimal() else said, f"{at}.extra.{PARTITION_KEYS.known[folded]}")
    else:
        taking.left("Slurm has no such key of a partition", key)


def one_default(draft: Draft) -> None:
    """Exactly one partition is where jobs go that name none."""
    partitions: dict[str, Any] = draft.get("partitions") or {}
    default = [name for name, each in partitions.items() if each.get("default")]
    for name in default[1:]:
        del partitions[name]["default"]
        draft.todo.append(f"partitions.{name} was a default too; jobs that name none go to `{default[0]}` now")
    if partitions and not default:
        first = next(iter(partitions))
        partitions[first]["default"] = True
        draft.todo.append(f"no partition was the default; `{first}` is it now, change partitions.*.default if need be")
