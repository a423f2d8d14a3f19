"""What stands in Slurm's own words: keys of slurm.conf, nodes, GRES and limits."""

import re
from collections.abc import Iterator
from math import prod
from typing import Any

from pydantic_core import PydanticCustomError

from config.slurm_keys import CLUSTER_KEYS, MPI_KEYS, NODE_KEYS, Keys
from operations.importing.field import Taking, Unusable, mapping
from operations.importing.partitions import partition
from slurm.conf import ConfError, lines

SECRETS = ("AccountingStoragePass", "JobCompPass", "StoragePass")
_HIDDEN = "secrets are not carried over; Slipway makes those that it needs"
_FILE = "it names a program of the old images; `health.checks`, `health.prolog` and `health.epilog` hold scripts here"
FILES = frozenset(
    [
        "Epilog",
        "EpilogSlurmctld",
        "HealthCheckInterval",
        "HealthCheckNodeState",
        "HealthCheckProgram",
        "HealthCheckTimeout",
        "JobCompLoc",
        "MailProg",
        "Prolog",
        "PrologSlurmctld",
        "RebootProgram",
        "ResumeFailProgram",
        "ResumeProgram",
        "ResvEpilog",
        "ResvProlog",
        "SlurmSchedLogFile",
        "SrunEpilog",
        "SrunProlog",
        "SuspendProgram",
        "TaskEpilog",
        "TaskProlog",
        "UnkillableStepProgram",
    ]
)
TOPOLOGY = (
    "where nodes are in the network is said by `topology` of each NodeSet here, by a switch, a block or a node label;"
    " set slurm.topology.plugin with it"
)
_SOCKETS = ("boards", "sockets", "socketsperboard")
_SPACES = {"memlock": "Ki", "stack": "Ki", "core": "Ki", "nofile": "", "nproc": ""}


def plain(value: Any) -> Any:
    """A value as it is nicest to read: numbers as numbers, lists in one."""
    if isinstance(value, list):
        return ",".join(str(plain(each)) for each in value)
    if isinstance(value, str):
        text = value.strip()
        return int(text) if re.fullmatch(r"0|[1-9][0-9]{0,15}", text) else text
    return value


def records(value: Any) -> Iterator[list[tuple[str, Any]]]:
    """Lines of a file in Slurm's format, or a map of the same: the keys and values of each."""
    if isinstance(value, dict):
        yield from ([(str(key), each)] for key, each in value.items() if each not in (None, "", [], {}))
        return
    try:
        for line in lines(str(value), ""):
            yield list(line.pairs)
    except ConfError as problem:
        raise Unusable(f"it is not in Slurm's format ({problem.args[0].split(':')[0].strip()})") from None


def slurm_conf(taking: Taking) -> None:
    """Keys of slurm.conf, and partitions among them."""
    for pairs in records(taking.value):
        (head, value), *fields = pairs
        if head.lower() == "partitionname":
            partition(taking, str(value), dict(fields))
        elif head.lower() in ("nodename", "nodeset", "downnodes", "include"):
            taking.left(CLUSTER_KEYS.owned[head.lower()], f"{head}={value}")
        else:
            for key, each in pairs:
                cluster_key(taking, key, each)


def cluster_key(taking: Taking, key: str, value: Any) -> None:
    """One key of slurm.conf."""
    spelled = CLUSTER_KEYS.known.get(key.lower(), key)
    if spelled in SECRETS:
        taking.left(_HIDDEN, key)
    elif spelled in FILES:
        taking.left(_FILE, key)
    elif spelled.startswith("Topology"):
        taking.left(TOPOLOGY, key)
    elif spelled == "AccountingStorageEnforce":
        taking.put([each.strip().lower() for each in str(plain(value)).split(",")], "accounting.enforce")
    elif spelled == "MpiDefault":
        taking.put(str(value).removeprefix("mpi/"), "slurm.mpi.default")
    elif why := _refused(CLUSTER_KEYS, key):
        taking.left(why, key)
    else:
        taking.put(plain(value), f"slurm.extra.{spelled}")


def extra(key: str):
    """Takes one key of slurm.conf that has a field of its own."""
    return lambda taking: cluster_key(taking, key, taking.value)


def mpi_conf(taking: Taking) -> None:
    """Keys of mpi.conf."""
    for pairs in records(taking.value):
        for key, value in pairs:
            if why := _refused(MPI_KEYS, key):
                taking.left(why, key)
            else:
                taking.put(plain(value), f"slurm.mpi.pmix.{MPI_KEYS.known[key.lower()]}")


def _refused(keys: Keys, key: str) -> str | None:
    try:
        keys.check(key)
    except PydanticCustomError as why:
        return why.message()
    return None


def node_conf(taking: Taking) -> None:
    """Fields of a NodeName line, for all nodes of a NodeSet."""
    fields = {key.lower(): (key, value) for pairs in records(taking.value) for key, value in pairs}
    sockets = [value for folded, (_, value) in fields.items() if folded in _SOCKETS]
    if sockets and all(str(value).isdecimal() for value in sockets):
        taking.put(prod(map(int, sockets)), "nodeSets.*.sockets")
    for folded, (key, value) in fields.items():
        match folded:
            case "features" | "feature":
                words = value if isinstance(value, list) else str(value).split(",")
                taking.put([str(word).strip() for word in words if str(word).strip()], "nodeSets.*.features")
            case "gres":
                gres(taking, plain(value))
            case "weight":
                taking.put(plain(value), "nodeSets.*.weight")
            case "cpus" | "procs":
                taking.put(plain(value), "nodeSets.*.cpus")
            case "realmemory":
                taking.put(f"{value}Mi", "nodeSets.*.realMemory")
            case _ if folded in _SOCKETS:
                pass
            case "corespersocket":
                taking.put(plain(value), "nodeSets.*.coresPerSocket")
            case "threadspercore":
                taking.put(plain(value), "nodeSets.*.threadsPerCore")
            case _ if why := _refused(NODE_KEYS, key):
                taking.left(why, key)
            case _:
                taking.put(plain(value), f"nodeSets.*.extra.{NODE_KEYS.known[folded]}")


_GRES = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_]*)(:(?P<type>[A-Za-z_0-9.-]*[A-Za-z_][A-Za-z_0-9.-]*))?(:(?P<count>[0-9]+))?"
)


def gres(taking: Taking, text: Any) -> None:
    """Generic resources as Slurm lists them: gpu:h100:8,fpga:2."""
    gpus: dict[str, int] = {}
    for part in str(text).split(","):
        words = re.sub(r"\(.*?\)", "", part).strip().replace("gres/", "")
        match = _GRES.fullmatch(words.replace(":no_consume", ""))
        if match is None:
            taking.left("it is not a resource such as gpu:h100:8; say it in `gpus` or `gres` of the NodeSet", words)
            continue
        name, kind, count = match["name"].lower(), (match["type"] or "").lower(), int(match["count"] or 1)
        if name == "gpu":
            gpus[kind] = gpus.get(kind, 0) + count
            continue
        taking.put(count, f"nodeSets.*.gres.{name}.count")
        if kind:
            taking.put(kind, f"nodeSets.*.gres.{name}.type")
        if ":no_consume" in words:
            taking.put(True, f"nodeSets.*.gres.{name}.noConsume")
    if gpus:
        taking.put(sum(gpus.values()), "nodeSets.*.gpus.count")
        kinds = [kind for kind in gpus if kind]
        if len(kinds) == 1:
            taking.put(kinds[0], "nodeSets.*.gpus.type")
        elif kinds:
            taking.adapted("the GPUs of a NodeSet are of one type here; make a NodeSet for each")


def gres_conf(taking: Taking) -> None:
    """Lines of gres.conf for the nodes of a NodeSet."""
    text = "\n".join(map(str, taking.value)) if isinstance(taking.value, list) else taking.value
    for pairs in records(text):
        fields = {key.lower(): str(value) for key, value in pairs}
        name = fields.get("name", "").lower()
        if name == "gpu" and fields.get("type"):
            taking.put(fields["type"].lower(), "nodeSets.*.gpus.type")
        elif name and name != "gpu":
            taking.put(plain(fields.get("count", "1")), f"nodeSets.*.gres.{name}.count")
            taking.put(fields.get("file"), f"nodeSets.*.gres.{name}.file")
        else:
            taking.left("Slipway writes gres.conf from `gpus` and `gres` of the NodeSet", " ".join(fields))


def limits(section: str):
    """Takes limits.conf, of which the hard limits of everyone are meant."""

    def take(taking: Taking) -> None:
        found: dict[str, str] = {}
        for line in str(taking.value).splitlines():
            words = line.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 4 or words[0] != "*" or words[2] not in _SPACES:
                taking.left("only memlock, nofile, stack, nproc and core of everyone (*) can be limited", line.strip())
            elif words[1] != "soft" or words[2] not in found:
                found[words[2]] = words[3]
        for item, value in found.items():
            unlimited = value in ("unlimited", "infinity", "-1")
            whole = f"{value}{_SPACES[item]}" if value != "0" else value
            taking.put("unlimited" if unlimited else plain(whole), f"{section}.limits.{item}")

    return take


def scripts(kind: str):
    """Takes scripts by file name, which run around each job."""

    def take(taking: Taking) -> None:
        for name, text in mapping(taking.value).items():
            label = re.sub(r"[^a-z0-9]+", "-", name.lower().rpartition(".")[0] or name.lower()).strip("-")
            taking.put(str(text), f"health.{kind}.{label}")
        taking.draft.put(("health", "enabled"), True, taking.tree.label(taking.path))
        taking.adapted("scripts run with health.enabled, which also checks the nodes")
        taking.draft.todo.append(f"health.{kind}: users can read these scripts; see that there is no password in them")

    return take


def purge_and_archive(taking: Taking) -> None:
    """Keys of slurmdbd.conf: how long records are kept, and which go to files."""
    records_of = {"event": "events", "job": "jobs", "step": "steps", "resv": "reservations", "suspend": "suspensions"}
    records_of |= {"txn": "transactions", "usage": "usage"}
    archived: list[str] = []
    for pairs in records(taking.value):
        for key, value in pairs:
            match = re.fullmatch(r"(purge|archive)(event|job|step|resv|suspend|txn|usage)s?(after)?", key.lower())
            if match is None:
                taking.left(
                    _HIDDEN if key in SECRETS else "Slipway writes slurmdbd.conf, and has no setting for it", key
                )
            elif match[1] == "purge":
                taking.put(str(value), f"accounting.purge.{records_of[match[2]]}")
            elif str(value).lower() in ("yes", "true"):
                archived.append(records_of[match[2]])
    purged = taking.draft.get("accounting", "purge") or {}
    if kept := [each for each in archived if each in purged]:
        taking.put(kept, "accounting.archive.records")
