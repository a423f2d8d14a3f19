"""`operations/run prepare`: rehearse the new files, and empty what will not be there any more.

Nothing of the new configuration has reached the cluster yet. If this fails, the cluster is as it was."""

from collections.abc import Iterable

from config.bridge import EXTERNAL
from operations.draining import drain, keep_pending, release, set_partitions, wait_until_empty
from operations.kubectl import CONTROLLER, Cluster, name_of
from operations.nodes import nodes
from operations.problem import Abandoned, Problem, putting_back
from operations.progress import say, wait
from operations.record import Record
from operations.rehearse import insist
from operations.rolling import NODE_SET
from operations.wishes import Wishes
from slurm import places
from slurm.changes import Plan
from slurm.hostlist import Hosts, compress
from slurm.planning.cluster import ALL
from slurm.planning.cluster import Cluster as Planned

UP_SECONDS = 60


def prepare(wishes: Wishes) -> None:
    cluster = wishes.cluster
    record = Record.read(cluster)
    if not runs(cluster, UP_SECONDS if record.applied else 0):
        _without_a_controller(cluster, record, wishes)
        return
    if record.applied:  # a controller that was never brought to any files may have no room for a rehearsal yet
        try:
            insist(cluster, wishes.files)
        except Problem as problem:
            raise Problem(f"{problem}\nNothing was changed.") from None
        say("slurmctld starts with the new files")
    empty(wishes, record)


def empty(wishes: Wishes, record: Record) -> None:
    """Drain what goes, and wait until no job is left on it. If that fails, it is as it was."""
    cluster = wishes.cluster
    going, partitions = leaving(cluster, record.plan(wishes.files), wishes)
    if record.rekeys(wishes.key):
        # A slurmd with the old key could not tell a slurmctld with the new one that a job has ended.
        say("daemons get a new key: no job may run while they do")
        going |= Hosts.parse(compress(name for name, node in nodes(cluster).items() if not node.external))
    if not going and not partitions:
        return
    lost = going - wishes.nodes
    keep_pending(cluster, lost, wishes.limits)
    record.open(cluster, wishes.files)
    what = " and ".join([*([f"nodes {going}"] if going else []), *(f"partition {name}" for name in partitions)])
    say(f"draining {what}")
    try:
        drain(cluster, list(going))
        set_partitions(cluster, partitions, "DRAIN")
        wait_until_empty(cluster, going, partitions, wishes.limits)
        keep_pending(cluster, lost, wishes.limits)  # some may have come, or come back, in the meantime
    except Abandoned:
        raise
    except Problem as problem:
        with putting_back(problem):
            release(cluster, list(going))
            set_partitions(cluster, partitions, "UP")
            record.write(cluster)  # nothing has changed, and nothing is left to put right
        raise
    say(f"{what}: no job is left")


def leaving(cluster: Cluster, plan: Plan, wishes: Wishes) -> tuple[Hosts, list[str]]:
    """Nodes and partitions that must be empty before Slurm hears of the change: by the plan, and by what runs."""
    known = nodes(cluster)
    first = [step for step in plan.steps if step.cls == "drain-first"]
    everything = any(f"NodeName={ALL}" in command for step in first for command in step.commands)
    # A partition that goes leaves its nodes behind, and they may serve others.
    emptied = [Hosts.parse(step.nodes) for step in first if step.nodes and step.key != "PartitionName"]
    named = list(known) if everything else [name for hosts in emptied for name in hosts]
    # Nodes of the bridge stand in no file: they go when the files have no place for them any more.
    lent = EXTERNAL in Planned.read(wishes.files).nodesets
    others = [name for name, node in known.items() if not (lent and node.external)]
    gone = [name for name in others if not Hosts.parse(name) & wishes.nodes]
    partitions = [step.object.removeprefix("partition ") for step in first if step.key == "PartitionName"]
    return Hosts.parse(compress(name for name in {*named, *gone} if name in known)), partitions


def runs(cluster: Cluster, seconds: float = UP_SECONDS) -> bool:
    """Whether slurmctld answers; one that is being replaced is back in seconds."""

    def look() -> str | None:
        seen = cluster.controller("scontrol ping | grep -q 'is UP'", seconds=20)
        return None if seen.returncode == 0 else f"slurmctld in {CONTROLLER} to answer"

    if look() and not _deployed(cluster):
        return False
    try:
        wait(look, seconds, "")
    except Problem as problem:
        if not str(problem).startswith("waited"):
            raise
        return False
    return True


def _deployed(cluster: Cluster) -> bool:
    """Whether there is a controller that could come back. What a stack retains is there without one."""
    words = ["get", "statefulset", places.CONTROLLER, "--ignore-not-found", "--output", "name"]
    return bool(cluster.kubectl(*words).stdout.strip())


def _without_a_controller(cluster: Cluster, record: Record, wishes: Wishes) -> None:
    """The change may be what brings slurmctld back. But nobody can tell whether what goes is in use."""
    if not _deployed(cluster):
        say("there is no controller yet: nothing to rehearse on, and nothing to drain")
        if record.applied:
            # Only its data was retained. What starts now starts anew, with names that may come later than slurmctld: it
            # is told to look again.
            record.open(cluster, wishes.files)
        return
    steps = [step for step in record.plan(wishes.files).steps if step.cls == "drain-first"]
    gone = [name for name in map(name_of, cluster.list("pods", NODE_SET)) if not Hosts.parse(name) & wishes.nodes]
    if steps or gone:
        what = [*(step.object for step in steps), *(f"node {name}" for name in gone)]
        raise Problem(f"{silent(cluster, what)}\nNothing was changed.")
    say("slurmctld does not answer: the files are not rehearsed")


def silent(cluster: Cluster, objects: Iterable[str]) -> str:
    return (
        f"slurmctld does not answer, so that nobody can tell which jobs use {', '.join(dict.fromkeys(objects))}.\n"
        f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}"
    )
