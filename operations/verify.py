"""Whether Slurm runs what its files say: asked of slurmctld and of every slurmd, never of the files."""

from collections.abc import Iterator

from operations.act import Done
from operations.kubectl import CONTROLLER
from operations.nodes import Node, parse
from operations.problem import Problem
from operations.progress import say, wait
from operations.rehearse import altered, complaints, rehearse
from operations.shown import SHOW, Fields, Shown
from operations.wishes import Wishes
from slurm.changes import Plan
from slurm.hostlist import Hosts, compress

SECONDS = 60
LOOKS = 6
LOG_SECONDS = 15
CONFIGLESS = "BOOT_TIME"  # when slurmctld, or its successor at a reconfigure, has started

# What nodes and partitions are by their files; all else that is shown of them comes from what runs on them.
NODE_FIELDS = (
    "CPUTot",
    "CoresPerSocket",
    "Sockets",
    "ThreadsPerCore",
    "Boards",
    "RealMemory",
    "MemSpecLimit",
    "Gres",
    "AvailableFeatures",
    "Weight",
    "Port",
    "Extra",
)
NOT_OF_A_PARTITION = ("TotalCPUs", "TotalNodes", "TRES", "Nodes")
SHOWN = 8


class NotVerified(Problem):
    """Slurm does not run what its files say."""


def verify(wishes: Wishes, plan: Plan, done: Done) -> None:
    """Until Slurm shows what the files mean, and every slurmd that answers has them. NotVerified with what was seen."""
    if done.what == "live" and done.said:  # whatever it shows: not all that was to be done is done
        raise NotVerified(f"Slurm refused the change: {done.said}")
    try:
        expected = rehearse(wishes.cluster, wishes.files)  # most often it was asked before, and answers at once
    except Problem as problem:
        raise NotVerified(str(problem)) from None
    last: list[str] = []
    live: list[Shown] = []
    answers = 0

    def look() -> str | None:
        nonlocal answers
        answer = wishes.cluster.controller(SHOW, seconds=60)
        if answer.returncode or "=== nodes" not in answer.stdout:
            return "slurmctld to answer"
        answers += 1
        live[:] = [Shown.parse(answer.stdout)]
        last[:] = [*_late_controller(live[0], done), *differences(plan, expected, live[0])]
        if last and at_once and answers >= LOOKS:
            raise Problem(f"waited for slurmctld to show {last[0]}")
        if last:
            return f"slurmctld to show {last[0]}"
        late = [name for name, node in _nodes(answer.stdout).items() if node.responds and node.started < done.since]
        return f"slurmd of {compress(late)} to take the files" if late else None

    # What is done live, or refused, shows at once or never. A time-out says nothing: it may still be under way.
    at_once = done.what == "live" or (bool(done.said) and "timed out" not in done.said)
    try:
        wait(look, SECONDS, "", 0.1)
    except Problem as problem:
        if not str(problem).startswith("waited"):
            raise
        if done.said:
            raise NotVerified(f"Slurm refused the change: {done.said}\n{_log(wishes)}".strip()) from None
        raise NotVerified("\n".join([f"{problem}", *last[1:SHOWN]])) from None
    coming = [step for step in plan.steps if step.key == "NodeName" and step.old is None]
    new = {name for step in coming for name in Hosts.parse(step.nodes)}
    silent = {name for name, fields in live[0].nodes.items() if "NOT_RESPONDING" in fields.get("State", "")}
    if silent := silent - new:
        say(f"not waited for, as they do not answer: {compress(silent)}")
    say("verified")


def _log(wishes: Wishes) -> str:
    """What slurmctld has written about it: scontrol itself knows only that it did not work."""
    written = wishes.cluster.kubectl("logs", CONTROLLER, "--container=slurmctld", f"--since={LOG_SECONDS}s").stdout
    return complaints(written)


def differences(plan: Plan, expected: Shown, live: Shown) -> Iterator[str]:
    """What the plan changes and slurmctld does not show so, in words."""
    for step in plan.steps:
        kind, _, name = step.object.partition(" ")
        if kind == "partition":
            yield from _partition(name, expected.partitions.get(name), live.partitions.get(name))
            yield from _members(name, expected, live)
        elif kind == "node":
            for node in Hosts.parse(name):
                yield from _node(node, expected.nodes.get(node), live.nodes.get(node))
        elif kind == "slurm.conf" and step.key in expected.config and not altered(step.key):
            want, have = expected.config[step.key], live.config.get(step.key)
            if want != have:
                yield f"{step.key}={want} (it is {have})"


def _partition(name: str, want: Fields | None, have: Fields | None) -> Iterator[str]:
    if (want is None) != (have is None):
        yield f"partition {name}" if have is None else f"no partition {name}"
    for field, value in (want or {}).items():
        if field not in NOT_OF_A_PARTITION and have is not None and have.get(field) != value:
            yield f"{field}={value} of partition {name} (it is {have.get(field)})"


def _members(name: str, expected: Shown, live: Shown) -> Iterator[str]:
    if moved := misplaced(name, expected, live):
        yield f"Nodes={moved[0]} of partition {name} (it is {moved[1]})"


def misplaced(name: str, expected: Shown, live: Shown) -> tuple[str, str] | None:
    """The nodes that a partition should have and has, where that differs. Those that are in no file come and go: only
    the live slurmctld knows them."""
    if name not in expected.partitions or name not in live.partitions:
        return None
    want, have = (_hosts(shown.partitions[name].get("Nodes", "")) for shown in (expected, live))
    static = Hosts.parse(compress(node for node, fields in live.nodes.items() if not dynamic(fields)))
    if not want - have and not (have - want) & static:
        return None
    return str(want) or "(null)", str(have) or "(null)"


def _hosts(nodes: str) -> Hosts:
    return Hosts() if nodes == "(null)" else Hosts.parse(nodes)


def dynamic(fields: Fields) -> bool:
    """Whether this node has made itself known."""
    return "DYNAMIC_NORM" in fields.get("State", "")


def _node(name: str, want: Fields | None, have: Fields | None) -> Iterator[str]:
    if want and not have:
        yield f"node {name}"
    elif have and not want and not dynamic(have):
        yield f"no node {name}"
    for field in NODE_FIELDS:
        if want and have and plain(want.get(field)) != plain(have.get(field)):
            yield f"{field}={want.get(field)} of node {name} (it is {have.get(field)})"


def plain(value: str | None) -> str | None:
    """Generic resources without the sockets that only a registered node can tell."""
    return value and value.split("(S:")[0]


def _late_controller(live: Shown, done: Done) -> Iterator[str]:
    if done.since and live.config.get(CONFIGLESS, "") < done.since:
        yield f"that it has read its files at {done.since}"


def _nodes(answer: str) -> dict[str, Node]:
    return parse(answer.partition("=== nodes")[2])
