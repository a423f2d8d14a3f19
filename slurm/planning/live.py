"""The exact `scontrol` lines of a plan.

Live edits last until the next reconfigure, which reads the file: so the file always says the same, and is written too.
Words are quoted for a shell, because people copy them; `shlex.split` gives back what scontrol is to be started with.
"""

import shlex
from collections.abc import Mapping

from slurm.keys import find
from slurm.keys.partitions import PARTITION

DRAIN_REASON = "slipway:change"
_PER_GPU = ("DefCpuPerGPU", "DefMemPerGPU")


def set_debug(value: str) -> str:
    return _scontrol("setdebug", value)


def drain(nodes: str) -> str:
    return _scontrol("update", f"NodeName={nodes}", "State=DRAIN", f"Reason={DRAIN_REASON}")


def update_nodes(nodes: str, field: str, value: str) -> str:
    """Features are two lists for Slurm, what a node could offer and what it does: one command has to set both."""
    names = ("AvailableFeatures", "ActiveFeatures") if field == "Features" else (field,)
    return _scontrol("update", f"NodeName={nodes}", *(f"{name}={value}" for name in names))


def update_partition(name: str, field: str, value: str, fields: Mapping[str, str]) -> str:
    """`fields` is the whole partition as it will be: defaults per GPU are one list for scontrol."""
    if field in _PER_GPU:
        field, value = "JobDefaults", _job_defaults(fields)
    return _scontrol("update", f"PartitionName={name}", f"{field}={value}")


def create_partition(name: str, fields: Mapping[str, str]) -> str:
    words = [f"{key}={value}" for key, value in fields.items() if key not in _PER_GPU]
    if per_gpu := _job_defaults(fields):
        words.append(f"JobDefaults={per_gpu}")
    return _scontrol("create", f"PartitionName={name}", *words)


def delete_partition(name: str) -> tuple[str, ...]:
    """No new jobs; then, when those that are queued and running have ended, away with it. scontrol refuses to delete a
    partition that is in use."""
    return (
        _scontrol("update", f"PartitionName={name}", "State=DRAIN"),
        _scontrol("delete", f"PartitionName={name}"),
    )


def unable_to_create(fields: Mapping[str, str]) -> list[str]:
    """Fields that `scontrol create` cannot set."""
    return [key for key in fields if find(PARTITION, key, "").cls != "live"]


def _job_defaults(fields: Mapping[str, str]) -> str:
    return ",".join(f"{key}={fields[key]}" for key in _PER_GPU if key in fields)


def _scontrol(*words: str) -> str:
    for each in words:
        if not each.isprintable():
            raise ValueError(f"{each!r} has a control character, which no value of Slurm may have")
    return shlex.join(["scontrol", *words])
