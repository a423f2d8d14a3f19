"""The plan's own commands for a live field, carried out on a slurmctld that runs."""

import re
from collections.abc import Mapping

from slurm.changes import Plan, plan
from slurm.planning.step import RECONFIGURE
from tests.cluster.daemon.slurmctld import Slurmctld

# What nodes have that changes by itself.
_RESTLESS = re.compile(r" (?:State|Reason|\w+Time|Version)=[^=]*(?= \w+=|$)", re.MULTILINE)


def set_and_cleared(
    slurmctld: Slurmctld, base: Mapping[str, str], kind: str, name: str, field: str, value: str
) -> None:
    """Set a field of a node or partition, and clear it: each time a reconfigure with the new file changes no more."""
    new = _with_field(base, kind, name, field, value)
    there, back = plan(base, new), plan(new, base)
    assert there.cls == "live", there.table()
    assert back.cls in ("live", "reconfigure"), back.table()
    before = _after(slurmctld)
    try:
        live = _after(slurmctld, *_commands(there))
        assert live != before
        assert _after(slurmctld, slurmctld.put(new), RECONFIGURE) == live
        assert _after(slurmctld, slurmctld.put(base), *_commands(back)) == before
    except AssertionError:
        slurmctld.run(slurmctld.put(base) + RECONFIGURE)  # for the others
        raise


def _commands(found: Plan) -> list[str]:
    return list(dict.fromkeys(command for step in found.steps for command in step.commands))


def _after(slurmctld: Slurmctld, *script: str) -> list[str]:
    """Nodes, partitions and switches as slurmctld has them then. Some flags of partitions are only in the JSON."""
    flags = "scontrol --json show partition | tr -d ' \\n' | grep -oE '\"flags\":\\[[^]]*\\]'"
    show = ["scontrol -o show node", "scontrol -o show partition", "scontrol show topology | sort", flags]
    said = slurmctld.ask("\n".join(["set -e", *script, *show]))
    return [_RESTLESS.sub("", line) if line.startswith("NodeName=") else line for line in said.splitlines()]


def _with_field(base: Mapping[str, str], kind: str, name: str, field: str, value: str) -> dict[str, str]:
    """The files with a field, or another value of it, in one line. There is one default partition at a time."""
    lines = base["slurm.conf"].splitlines()
    if field == "Default":
        lines = [line.replace(" Default=YES", "") for line in lines]
    [at] = [at for at, line in enumerate(lines) if line.startswith(f"{kind}={name} ")]
    spelled = "Features?" if field == "Features" else field
    lines[at] = re.sub(rf" {spelled}=\S+", "", lines[at]) + f" {field}={value}"
    return {**base, "slurm.conf": "\n".join(lines) + "\n"}
