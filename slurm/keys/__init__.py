"""THE table: what a running cluster needs when a key of Slurm 26.05 gets another value.

Every key of slurm.conf is here, every field of its NodeName, NodeSet, DownNodes, PowerAction and PartitionName lines,
and every other file with its keys; a test holds them against the manual's own list. What is not here is refused: Slurm
does not start with a key that it does not know.

Two things decide most classes. Since 23.11 a reconfigure starts slurmctld and slurmd anew with the new files, so it
brings everything but what is handed on from process to process: listening sockets, authentication, the file with the
process id. And a worker's pod holds the jobs of its node, so that restarting a worker means draining it.
"""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

from slurm.keys.accounting import ACCOUNTING
from slurm.keys.communication import COMMUNICATION, COMMUNICATION_OPTIONS
from slurm.keys.daemons import DAEMONS, SLURMCTLD_OPTIONS, SLURMD_OPTIONS
from slurm.keys.entry import EXECUTION, SEVERITY, Class, Entry, Table, reconfigure, refused
from slurm.keys.files import DYNAMIC_NODES, FILES, SCRIPT, SCRIPT_KEYS, File
from slurm.keys.jobs import JOBS
from slurm.keys.nodes import DOWN_NODES, NODE, NODE_ALIASES, NODE_SET, POWER_ACTION
from slurm.keys.partitions import PARTITION, PARTITION_ALIASES
from slurm.keys.scheduling import SCHEDULING

__all__ = [
    "DYNAMIC_NODES",
    "EXECUTION",
    "FILES",
    "LINES",
    "SCRIPT",
    "SCRIPT_KEYS",
    "SEVERITY",
    "SLURM_CONF",
    "Class",
    "Entry",
    "File",
    "Table",
    "find",
    "severity",
    "spelling",
    "without",
    "worst",
]

_OPTIONS: Mapping[str, Table] = {
    "CommunicationParameters": COMMUNICATION_OPTIONS,
    "SlurmctldParameters": SLURMCTLD_OPTIONS,
    "SlurmdParameters": SLURMD_OPTIONS,
}

SLURM_CONF: Table = {
    key: replace(entry, options=_OPTIONS[key]) if key in _OPTIONS else entry
    for part in (ACCOUNTING, COMMUNICATION, DAEMONS, JOBS, SCHEDULING)
    for key, entry in part.items()
}

# Lines of slurm.conf that have fields, by the key that they begin with.
LINES: Mapping[str, Table] = {
    "NodeName": NODE,
    "NodeSet": NODE_SET,
    "PartitionName": PARTITION,
    "DownNodes": DOWN_NODES,
    "PowerAction": POWER_ACTION,
}

_ALIASES: Mapping[str, Mapping[str, str]] = {"NodeName": NODE_ALIASES, "PartitionName": PARTITION_ALIASES}

# What older files and scontrol say, and what to say instead.
_RETIRED = {
    "BackupAddr": "a second SlurmctldHost",
    "BackupController": "a second SlurmctldHost",
    "ControlAddr": "SlurmctldHost=name(address)",
    "ControlMachine": "SlurmctldHost",
    "CryptoType": "CredType",
    "ExclusiveTopo": "Exclusive=TOPO",
    "ExclusiveUser": "Exclusive=USER",
    "FastSchedule": "SlurmdParameters=config_overrides",
    "JobContainerType": "NamespaceType",
    "JobDefaults": "DefCpuPerGPU and DefMemPerGPU",
    "KeepAliveTime": "CommunicationParameters=keepalivetime=…",
    "Priority": "PriorityJobFactor and PriorityTier",
    "RoutePlugin": "TopologyParam=RouteTree",
    "SallocDefaultCommand": "LaunchParameters=use_interactive_step",
    "SbcastParameters": "BcastParameters",
}


def spelling(key: str, line: str = "") -> str:
    """A key of slurm.conf, or a field of its lines that begin with `line`, as the manual spells it."""
    return _SPELLINGS[line].get(key.lower(), key)


def find(table: Table, key: str, where: str) -> Entry:
    """The entry of a key; for one that Slurm does not know, a refusal that says what to do."""
    if key in table:
        return table[key]
    known = {each.lower(): each for each in table}
    if key.lower() in known:
        return table[known[key.lower()]]
    if key in _RETIRED:
        hint = f"Write {_RETIRED[key]} instead."
    elif close := get_close_matches(key.lower(), known, 1):
        hint = f"Did you mean {known[close[0]]}?"
    else:
        hint = "Take it out, or spell it as the manual of 26.05 does."
    return refused(f"{key} is no key of {where} in Slurm 26.05, which would not start with it. {hint}")


def without(key: str) -> Entry:
    """What it takes that a key which Slurm does not know goes out of a file."""
    return reconfigure(f"{key} is no key that Slurm 26.05 knows; a reconfigure reads the file without it.")


def severity(cls: Class) -> int:
    return SEVERITY.index(cls)


def worst(entries: list[Entry]) -> Entry:
    """The entry that asks for most."""
    return max(entries, key=lambda entry: severity(entry.cls))


_SPELLINGS: Mapping[str, Mapping[str, str]] = {
    line: {key.lower(): key for key in table} | {key.lower(): name for key, name in _ALIASES.get(line, {}).items()}
    for line, table in {"": SLURM_CONF, **LINES}.items()
}
