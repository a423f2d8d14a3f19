"""What is to be done in this world. Nothing is done here."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from caretaker.world import OWNED, REBOOTING, STOPPED, Machine, Node, World

CORDONED = "slipway:cordoned"
REBOOT = "slipway:reboot"
SILENT = {"NOT_RESPONDING", "DOWN", "UNKNOWN"}
# Reasons that Slurm itself gives: to nodes that are silent, and to nodes with processes that it could not end. The
# successor of a pod takes the latter away: those processes have ended with their pod.
NOT_RESPONDING = "Not responding"
UNKILLABLE = "Kill task failed"


# To nodes that were told of a job whose number runs on them already: a slurmctld that was killed gives numbers again
# that it had no time to write down.
DUPLICATE = "Duplicate jobid"
# Of a pod that ends. Its successor takes it away when it starts.
STOPPING = "slipway:stopping"
STARTED_SECONDS = 60


@dataclass(frozen=True)
class Drain:
    node: str
    reason: str


@dataclass(frozen=True)
class Undrain:
    node: str


@dataclass(frozen=True)
class Replace:
    """End a pod, so that its StatefulSet makes another. By force where nobody is left who could confirm its end."""

    pod: str
    uid: str
    why: str
    force: bool = False


@dataclass(frozen=True)
class Annotate:
    """Ask the platform for a reboot of a machine; with None, take the request back."""

    machine: str
    value: str | None


@dataclass(frozen=True)
class Release:
    """Let whoever empties a machine have a pod; or not any more."""

    pod: str
    released: bool


Action = Drain | Undrain | Replace | Annotate | Release


def cordons(world: World) -> Iterator[Action]:
    """No new jobs on machines that Kubernetes wants to empty; those that run go on."""
    for node in world.nodes.values():
        machine = world.machine_of(node)
        if machine is None:
            continue
        if machine.away and node.in_service:
            yield Drain(node.name, f"{CORDONED}: {machine.away}")
        elif not machine.away and node.drained_for(CORDONED):
            yield Undrain(node.name)


def duplicates(world: World) -> Iterator[Action]:
    """Nodes on which no job is left that could have the number of another."""
    for node in world.nodes.values():
        if node.drained_for(DUPLICATE) and not node.busy and not node.states & SILENT:
            yield Undrain(node.name)


def left_overs(world: World) -> Iterator[Action]:
    """Drains of pods that are gone, where the next pod has long been there: a slurmctld that is killed forgets that it
    took them away if it had no time to write that down."""
    for node in world.nodes.values():
        pod = world.pods.get(node.name)
        if pod is None or pod.ending or not pod.ready or world.now - pod.created < STARTED_SECONDS:
            continue
        if node.drained_for(STOPPING):
            yield Undrain(node.name)


def releases(world: World) -> Iterator[Action]:
    """A budget keeps the pods of workers on their machines. It lets go of one when its machine is to be emptied, no job
    is left on it, and none will come."""
    for pod in world.pods.values():
        machine, node = world.machines.get(pod.machine), world.nodes.get(pod.name)
        idle = node is None or not (node.busy or node.in_service)
        released = machine is not None and bool(machine.away) and idle
        if released != pod.released and not pod.ending:
            yield Release(pod.name, released)


def reboots(world: World, annotation: str, asker: str) -> Iterator[Action]:
    """Machines whose nodes are drained for a reboot, or that `scontrol reboot` names. A request is made when all nodes
    of the machine are empty, and is settled when the machine has booted, or the pod is elsewhere. It begins with who
    asks: a request of somebody else is theirs."""
    asked: dict[str, str] = {}
    for node in world.nodes.values():
        machine = world.machine_of(node)
        if node.drained_for(f"{REBOOT}@"):
            place, _, why = node.reason.removeprefix(f"{REBOOT}@").partition(": ")
            name, _, boot = place.rpartition("/")
            if machine is not None and not machine.away and (machine.name, machine.boot) != (name, boot):
                yield Undrain(node.name)
            elif name in world.machines:
                asked[name] = why
        elif machine is None or not machine.boot:
            continue
        elif node.drained_for(REBOOT):
            # From now on it is known which boot was meant, whoever looks.
            yield Drain(node.name, _reason(machine, node.reason.partition(": ")[2]))
        elif node.states & REBOOTING:
            asked[machine.name] = node.reason or f"scontrol reboot {node.name}"
    for name, why in asked.items():
        machine = world.machines[name]
        there = [node for node in world.nodes.values() if world.machine_of(node) == machine]
        for node in there:
            if node.in_service:
                yield Drain(node.name, _reason(machine, why))
        if annotation not in machine.annotations and all(map(_empty, there)):
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(world.now))
            yield Annotate(name, f"{asker} {moment} {why}")
    for machine in world.machines.values():
        if machine.annotations.get(annotation, "").startswith(f"{asker} ") and machine.name not in asked:
            yield Annotate(machine.name, None)


def _reason(machine: Machine, why: str) -> str:
    return f"{REBOOT}@{machine.name}/{machine.boot}: {why}"


def _empty(node: Node) -> bool:
    return not node.in_service and not node.busy and "REBOOT_REQUESTED" not in node.states


@dataclass
class Patience:
    """How long nodes have been silent, as far as this caretaker has seen. One that starts anew waits anew."""

    limit: float
    replace_lost: bool = False
    since: dict[tuple[str, str], float] = field(default_factory=dict)

    def replacements(self, world: World) -> Iterator[Action]:
        """Pods whose slurmd is stuck, one of each NodeSet at a time, the one that is silent for longest first."""
        if not self.limit:
            return
        stuck = [node for node in world.nodes.values() if self._stuck(world, node)]
        found = {(node.name, world.pods[node.name].uid): node for node in stuck}
        self.since = {key: self.since.get(key, world.now) for key in found}
        ready = {machine.name for machine in world.machines.values() if machine.ready}
        moving = {pod.name.rpartition("-")[0] for pod in world.pods.values() if pod.ending and pod.machine in ready}
        for key in sorted(found, key=self.since.__getitem__):
            node, pod = found[key], world.pods[key[0]]
            # A pod that was just made is on its way, whether or not it was we who asked for it.
            if world.now - max(self.since[key], pod.created) < self.limit or node.node_set in moving:
                continue
            moving.add(node.node_set)
            what = "has processes that do not end" if node.drained_for(UNKILLABLE) else "is silent"
            why = f"its node {what} for {world.now - self.since[key]:.0f} s"
            yield Replace(pod.name, pod.uid, why, force=self._lost(world, pod.name))

    def _stuck(self, world: World, node: Node) -> bool:
        """Whether it is silent, or could not end a job, though its pod seems well, and nobody has taken it out of
        service on purpose. As long as Slurm does not call it down, jobs may run on it without slurmd."""
        pod, machine = world.pods.get(node.name), world.machine_of(node)
        if pod is None or machine is None or node.states & (STOPPED | REBOOTING):
            return False
        if node.drained_for(UNKILLABLE) and not node.busy:
            return machine.ready and pod.ready and not pod.ending
        if not node.states & SILENT:
            return False
        if node.busy and "DOWN" not in node.states:
            return False
        if node.reason and not node.reason.startswith((OWNED, NOT_RESPONDING)):
            return False
        if self._lost(world, node.name):
            return "DOWN" in node.states
        return machine.ready and pod.ready and not pod.ending

    def _lost(self, world: World, name: str) -> bool:
        """Whether a pod ends on a machine that nobody hears of, and may be taken for dead."""
        pod = world.pods[name]
        machine = world.machines.get(pod.machine)
        return self.replace_lost and pod.ending and machine is not None and not machine.ready
