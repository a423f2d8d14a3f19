"""Whether Slurm runs what its files say: asked of slurmctld and of every slurmd, never of the files."""

import time
from collections.abc import Iterator

from operations.act import RESTART_SECONDS, Done
from operations.kubectl import CONTROLLER
from operations.nodes import Node, parse
from operations.problem import Problem, Unanswered
from operations.progress import say, wait
from operations.rehearse import Rejected, altered, complaints, rehearse
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
# Nodes whose slurmd serves nobody now, in the order in which a reason is looked for.
NOT_WAITED_FOR = {
    "are powered down": {"POWERED_DOWN", "POWERING_DOWN"},
    "do not answer": {"NOT_RESPONDING", "UNKNOWN"},
    "are down": {"DOWN"},
}


class NotVerified(Problem):
    """Slurm does not run what its files say."""


class Interrupted(NotVerified):
    """slurmctld was replaced on the way, and has forgotten what it had yet to tell its slurmds."""


def verify(wishes: Wishes, plan: Plan, done: Done) -> None:
    """Until Slurm shows what the files mean, and every slurmd that answers has them. NotVerified with what was seen."""
    if done.what == "live" and done.said:  # whatever it shows: not all that was to be done is done
        raise NotVerified(f"Slurm refused the change: {done.said}")
    watch = Watch(wishes, plan, done)
    try:
        wait(watch.look, RESTART_SECONDS, "", 0.1)
    except Problem as problem:
        if isinstance(problem, NotVerified) or not str(problem).startswith("waited"):
            raise
        if done.said:
            raise NotVerified(f"Slurm refused the change: {done.said}\n{_log(wishes)}".strip()) from None
        raise NotVerified("\n".join([f"{problem}", *watch.missing[1:SHOWN]])) from None
    coming = [step for step in plan.steps if step.key == "NodeName" and step.old is None]
    new = {name for step in coming for name in Hosts.parse(step.nodes)}
    for why, words in NOT_WAITED_FOR.items():
        states = {name: {*fields.get("State", "").split("+")} for name, fields in watch.live.nodes.items()}
        absent = {name for name, each in states.items() if each & words} - new
        new |= absent  # each is told of once
        if absent:
            say(f"not waited for, as they {why}: {compress(absent)}")
    say("verified")


class Watch:
    """What slurmctld has shown so far. Its silence is waited for, and what it does not show, for a shorter time."""

    def __init__(self, wishes: Wishes, plan: Plan, done: Done) -> None:
        self._wishes, self._plan, self._done = wishes, plan, done
        # What is done live, or refused, shows at once or never. A time-out says nothing: it may still be under way.
        self._at_once = done.what == "live" or (bool(done.said) and "timed out" not in done.said)
        self._expected: Shown | None = None
        self._silences = self._answers = 0
        self._since: float | None = None
        self.live = Shown({}, {}, {})
        self.missing: list[str] = []

    def look(self) -> str | None:
        cluster, since = self._wishes.cluster, self._done.since
        try:  # most often it was asked before, and answers at once
            self._expected = self._expected or rehearse(cluster, self._wishes.files)
        except Rejected as verdict:
            raise NotVerified(str(verdict)) from None
        except Unanswered as problem:
            return self._silence(f"a rehearsal: {problem}")
        answer = cluster.controller(SHOW, seconds=60)
        if answer.returncode or "=== nodes" not in answer.stdout:
            return self._silence("slurmctld to answer")
        self.live = Shown.parse(answer.stdout)
        self.missing = [*_late_controller(self.live, self._done), *differences(self._plan, self._expected, self.live)]
        late = [name for name, node in _nodes(answer.stdout).items() if node.responds and node.started < since]
        if self.missing:
            return self._still(f"slurmctld to show {self.missing[0]}")
        if late and self._silences:
            raise Interrupted(f"slurmctld was replaced before {compress(late)} had the files")
        return self._still(f"slurmd of {compress(late)} to take the files") if late else None

    def _silence(self, awaited: str) -> str:
        self._silences += 1
        self._since = None
        return awaited

    def _still(self, awaited: str) -> str:
        self._answers += 1
        self._since = self._since or time.monotonic()
        if self.missing and self._at_once and self._answers >= LOOKS:
            raise Problem(f"waited for {awaited}")
        if time.monotonic() - self._since > SECONDS:
            raise Problem(f"waited {SECONDS} s for {awaited}")
        return awaited


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
