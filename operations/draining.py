"""Nodes and partitions that have to be empty: no new jobs, and then the wait for those that are there.

Every drain of ours carries a reason that begins with `slipway:`. One that an administrator made has another reason, and
is neither changed nor taken away."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from operations.kubectl import Cluster
from operations.nodes import Node, nodes
from operations.problem import Abandoned, Cancelled, Problem, Unanswered
from operations.progress import say, wait
from slurm.hostlist import Hosts, compress
from slurm.planning.live import DRAIN_REASON

OWNED = "slipway:"
# Of nodes that fail, or whose machine goes away. A node that recovers takes its own away (images/worker/health), and
# the caretaker the others: whoever needs a node to stay empty takes them over.
HEALTH = ("slipway:health", "slipway:cordoned", "slipway:reboot")
STOPPING = "slipway:stopping"  # a pod that ends sets it, and its successor takes it away
# squeue takes R for a job that runs and does nothing else: each of the other states in which it has its nodes, such as
# CONFIGURING while they start, has to be named. The same is in images/worker/stop and wait-for-controller.
ACTIVE = "R,S,CF,CG,RS,SI,SO,ST"
WAITING = "PD,RD,RF,RH,RQ,SE"  # in the queue, and held or put back there
SHOWN_JOBS = 8

DRAIN = 'scontrol update NodeName="$1" State=DRAIN Reason="$2"'
UNDRAIN = 'scontrol update NodeName="$1" State=UNDRAIN'
PARTITIONS = 'for name in $(echo "$1" | tr , " "); do scontrol update PartitionName="$name" State="$2" || exit; done'
# By node: what runs there. By partition: what runs or waits there. A job is listed once however many match. The last
# field of each line is one that people choose the words of: it may have a `|` in it, as the features of a job have.
JOBS = r"""
set -e
format='%A|%T|%P|%N|%u'
found=$(
    [ -z "$1" ] || squeue --noheader --nodelist="$1" --states="$3" --format="$format"
    [ -z "$2" ] || squeue --noheader --partition="$2" --states="$4,$3" --format="$format"
)
[ -z "$found" ] || echo "$found" | sort -u
"""
PENDING = f"squeue --noheader --states={WAITING} --format='%A|%u|%P|%D|%n|%f'"
END = 'for job in $2; do $1 "$job" || true; done'


@dataclass(frozen=True)
class Limits:
    """How long jobs are waited for, and what happens to them then."""

    seconds: float
    on_timeout: str


@dataclass(frozen=True)
class Job:
    number: str
    state: str
    partition: str
    nodes: str
    user: str

    def __str__(self) -> str:
        where = f"on {self.nodes}" if self.nodes else f"waiting in {self.partition}"
        return f"{self.number} ({self.user}, {where})"


@dataclass(frozen=True)
class Pending:
    """A job that waits, and what for: `named` nodes, and nodes with `features`, which is an expression."""

    number: str
    user: str
    partitions: str
    count: str
    named: str
    features: str

    def job(self, where: str = "") -> Job:
        return Job(self.number, "PENDING", where or self.partitions, "", self.user)


def drain(cluster: Cluster, names: Sequence[str], reason: str = DRAIN_REASON) -> None:
    """No new jobs on these nodes. What an administrator has drained already stays as it is; what is drained for its
    health is taken over, and will be again if that lasts."""
    known = {name: node for name, node in nodes(cluster).items() if name in names}
    fresh = compress(name for name, node in known.items() if not node.drained or owned(node, HEALTH))
    if fresh:
        cluster.slurm(DRAIN, fresh, reason)


def release(cluster: Cluster, names: Sequence[str] | None = None, reason: str | tuple[str, ...] = DRAIN_REASON) -> None:
    """Take drains of ours away, from all nodes or from these."""
    known = nodes(cluster)
    ours = [name for name, node in known.items() if owned(node, reason) and (names is None or name in names)]
    if ours:
        cluster.slurm(UNDRAIN, compress(ours))
        say(f"resumed {compress(ours)}")


def owned(node: Node, reason: str | tuple[str, ...] = OWNED) -> bool:
    return node.drained and node.reason.startswith(reason)


def set_partitions(cluster: Cluster, names: Sequence[str], state: str) -> None:
    if names:
        cluster.slurm(PARTITIONS, ",".join(names), state)


def jobs(cluster: Cluster, names: str, partitions: Sequence[str] = ()) -> list[Job]:
    """Who uses these nodes, and whose jobs run or wait in these partitions."""
    shown = cluster.slurm(JOBS, names, ",".join(partitions), ACTIVE, WAITING)
    return [Job(*line.split("|", 4)) for line in shown.splitlines()]


def pending(cluster: Cluster) -> list[Pending]:
    return [Pending(*line.split("|", 5)) for line in cluster.slurm(PENDING).splitlines()]


def keep_pending(cluster: Cluster, hosts: Hosts, limits: Limits) -> None:
    """Slurm ends a job that waits for nodes by name when one of them goes. So it has to be the user's choice."""
    asking: list[Job] = []
    for each in pending(cluster):
        if each.named not in ("", "(null)") and (lost := Hosts.parse(each.named) & hosts):
            asking.append(each.job(f"{each.partitions} for {lost}"))
    if asking and limits.on_timeout != "cancel":
        way_out = "Wait until they have run, or cancel them, or set drain.onTimeout to cancel."
        raise Problem(f"{listed(asking)}: Slurm would end them with the nodes that they ask for. {way_out}")
    if asking:
        _end(cluster, asking, "cancel", ())


def wait_until_empty(cluster: Cluster, hosts: Hosts, partitions: Sequence[str], limits: Limits) -> None:
    """Until no job is left; when the time is over, what the user has chosen. Nothing is ended silently."""
    names = str(hosts)
    left: list[Job] = []
    once = replace(cluster, patience=0)
    answered = True

    def busy() -> str | None:
        nonlocal answered
        try:
            left[:] = jobs(once, names, partitions)
        except Unanswered as problem:  # as long as nobody can tell, they may still be there
            answered = False
            return f"an answer about jobs on {', '.join(each for each in (names, *partitions) if each)} ({problem})"
        answered = True
        return listed(left) if left else None

    try:
        wait(busy, limits.seconds, "", 0.5)
    except (Cancelled, Abandoned):
        raise
    except Problem as problem:
        if limits.on_timeout == "fail" or not answered:
            way_out = "Wait for them, or set drain.timeout, or drain.onTimeout to requeue or cancel."
            raise Problem(f"{problem}\nNothing was done to them. {way_out}") from None
        _end(cluster, left, limits.on_timeout, partitions)
        wait(busy, 120, "Look at them with: squeue", 0.5)


def _end(cluster: Cluster, left: list[Job], how: str, partitions: Sequence[str]) -> None:
    if how == "requeue" and (stuck := [job for job in left if not job.nodes or job.partition in partitions]):
        way_out = "Give them another with scontrol, or set drain.onTimeout to cancel."
        raise Problem(f"{listed(stuck)}: their partition goes, and no queue is left for them. {way_out}")
    say(f"{how}: {listed(left, len(left))}")  # each of them, before anything is done to it
    verb = {"requeue": "scontrol requeue", "cancel": "scancel"}[how]
    cluster.slurm(END, verb, " ".join(job.number for job in left), again=False)


def listed(found: Sequence[Job], most: int = SHOWN_JOBS) -> str:
    """Jobs for a message: the first ones, and how many more."""
    shown = "; ".join(map(str, found[:most]))
    more = f"; and {len(found) - most} more" if len(found) > most else ""
    return f"{len(found)} job{'s' if len(found) > 1 else ''}: {shown}{more}"
