"""The stack file: complete, checked by the settings themselves, and then written."""

import re
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from config.loading import PREFIX, load_entries
from config.paths import spelled
from config.plain_yaml import scalar
from config.problems import ConfigProblems
from config.settings import WORKER
from config.users import SshKey
from operations.importing.draft import Draft
from operations.importing.field import Row
from operations.importing.partitions import one_default
from operations.importing.volumes import place_mounts
from operations.problem import Problem

_ROUNDS = 20  # each takes at least one value out
_SERVING = ("controller", "login", "accounting", "rest")


def complete(draft: Draft) -> None:
    """What no field of the source says by itself, but a stack must have."""
    place_mounts(draft)
    one_default(draft)
    _have_filters(draft)
    _add_up(draft)
    _have_parameters(draft)
    if not draft.names:
        draft.todo.append("nodeSets: the source has none; import them with it, or say what nodes there are")
    if not draft.get("cluster", "name"):
        draft.todo.append("cluster.name: the source does not say it, and records and saved state belong to it")
    if not draft.get("cluster", "namespace") and re.search("existingClaim|passwordSecret", str(draft.values)):
        draft.todo.append(
            "cluster.namespace: the one that the claims and Secrets are in, which the source does not say"
        )
    for name, at in _node_sets(draft).items():
        for key in ("cpus", "memory"):
            if key not in at:
                draft.todo.append(f"{key} of NodeSet `{name}`: the source does not say how much a node has; state it")
    if draft.get("accounting", "enabled"):
        draft.todo.append("accounting.accounts and accounting.qos: those that the old cluster had (`sacctmgr dump`)")
    draft.todo.append("images.registry: build Slipway's images and say where they are")
    draft.todo.append("users: who may log in, each with the uid that their files have")


def _node_sets(draft: Draft) -> dict[str, dict[str, Any]]:
    return {name: draft.get(*draft.node_set(original)) or {} for original, name in draft.names.items()}


def _have_filters(draft: Draft) -> None:
    """Every pod runs under a filter that exists. `worker` is there even if nobody has named it."""
    filters = draft.values.setdefault("nodeFilters", {})
    if WORKER not in draft.names.values():
        draft.put((WORKER, "size"), 0, "")
    places = [(part,) for part in _SERVING if part in ("controller", "login") or draft.get(part, "enabled")]
    places += [(WORKER,), *(draft.node_set(name) for name in draft.names)]
    for place in dict.fromkeys(places):
        if draft.get(*place, "nodeFilter") in filters:
            continue
        wanted = "system" if place[0] in _SERVING else "compute"
        if place == (WORKER,) and draft.get(WORKER, "size") == 0 and filters:
            wanted = next(iter(filters))
        filters.setdefault(wanted, {})
        (draft.get(*place) or {}).pop("nodeFilter", None)
        draft.put((*place, "nodeFilter"), wanted, "")
    for name, each in filters.items():
        if "affinity" not in each and not each.get("nodeSelector", {}).keys() - {"kubernetes.io/os"}:
            draft.todo.append(f"nodeFilters.{name}: it takes every node, the control plane too; name node labels")


def _add_up(draft: Draft) -> None:
    """Sockets, cores and threads that do not make up the CPUs are those of the machine, and not of the pod."""
    for name, at in _node_sets(draft).items():
        parts = [at.get(key) for key in ("sockets", "coresPerSocket", "threadsPerCore") if at.get(key) is not None]
        product = 1
        for each in parts:
            product *= each if isinstance(each, int) else 0
        if parts and product != at.get("cpus", product):
            for key in ("sockets", "coresPerSocket", "threadsPerCore"):
                at.pop(key, None)
            why = f"sockets, cores and threads make {product} CPUs, and the pods have {at['cpus']}: cpus counts"
            draft.rows.append(Row(f"NodeSet {name}", "left out", "", why))
        elif parts:
            at.setdefault("cpus", product)


def _have_parameters(draft: Draft) -> None:
    """A list of parameters takes the place of Slipway's own, so that it needs those that the cluster lives on."""
    needed = {"SlurmctldParameters": "enable_configless", "SlurmdParameters": "config_overrides"}
    if draft.get("health", "enabled"):
        needed["SchedulerParameters"] = "nohold_on_prolog_fail"
    extra = draft.get("slurm", "extra") or {}
    for key, word in needed.items():
        words = str(extra.get(key, word)).split(",")
        if word not in words:
            extra[key] = ",".join([*words, word])
            source = draft.source_of(("slurm", "extra", key))
            draft.rows.append(Row(source, "adapted", f"slurm.extra.{key}", f"{word} is added, which Slipway needs"))


def settle(draft: Draft) -> None:
    """Take out what the settings refuse, and tell why. A Problem if that cannot help."""
    for _ in range(_ROUNDS):
        try:
            load_entries(draft.values)
            return
        except ConfigProblems as refused:
            places = {spelled(path): path for path in _paths(draft.values, ())}
            cut = {path: each for each in refused.problems if (path := _nearest(each.key, places)) is not None}
            if not cut:
                raise Problem(f"The source cannot be made a stack file.\n{refused}") from None
        for path in sorted(cut, key=lambda path: [(isinstance(step, int), step) for step in path], reverse=True):
            source, message = draft.source_of(path), cut[path].message
            _remove(draft.values, path)
            row = Row(source or spelled(path), "left out", "", f"{spelled(path)}: {message}")
            if row not in draft.rows:
                draft.rows.append(row)
    raise Problem("The source cannot be made a stack file: too much of it is refused. Import its parts one by one.")


def _paths(value: Any, path: tuple[str | int, ...]):
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield from _paths(member, (*path, step))


def _nearest(key: str, places: dict[str, tuple[str | int, ...]]) -> tuple[str | int, ...] | None:
    """What to take out for a problem: the value itself or the section that it is missing in; of a list, the entry."""
    text = key.removeprefix(PREFIX)
    while text and text not in places:
        text = text.rpartition(".")[0]
    path = places.get(text)
    if path is None:
        return None
    entries = [at for at, step in enumerate(path) if isinstance(step, int)]
    return path[: entries[-1] + 1] if entries else path


def _remove(values: Any, path: tuple[str | int, ...]) -> None:
    for step in path[:-1]:
        values = values[step]
    del values[path[-1]]


class _Dumper(yaml.SafeDumper):
    """Text that the engine would read as something else is quoted; what has lines keeps them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None if isinstance(scalar(value), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _text)

_ORDER = (
    *("cluster", "nodeFilters", "controller", "worker", "nodeSets", "partitions", "login", "storage"),
    *("accounting", "rest", "monitoring", "health", "slurm"),
)


def text(draft: Draft, source: str) -> str:
    """The stack file, with what is left to do as comments."""
    config = {f"{PREFIX}{key}": draft.values[key] for key in _ORDER if draft.values.get(key)}
    lines = [
        "# yaml-language-server: $schema=config/schema.json",
        f"# Imported from {source} by `slipway import`. Before the first `slipway up`:",
        *(f"#   - {' '.join(each.split())}" for each in draft.todo),
    ]
    if keys := [each for each in draft.root_keys if _is_key(each)]:
        lines += ["# Keys that logged in as root; give each to the user whose it is:", *(f"#   {key}" for key in keys)]
    return "\n".join(lines) + "\n" + yaml.dump({"config": config}, Dumper=_Dumper, sort_keys=False, width=110)


def _is_key(text: str) -> bool:
    try:
        TypeAdapter(SshKey).validate_python(text)
    except ValidationError:
        return False
    return re.fullmatch(r"[ -~]+", text) is not None
