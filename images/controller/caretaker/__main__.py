"""Round after round: look, decide, act."""

import os
import signal
import sys
import time
from collections.abc import Iterator

from caretaker.care import (
    Action,
    Annotate,
    Drain,
    Patience,
    Release,
    Replace,
    Undrain,
    cordons,
    duplicates,
    left_overs,
    reboots,
    releases,
)
from caretaker.clients import Kubernetes, Slurm, Unanswered
from caretaker.world import RELEASED, Machine, Pod, World

PAUSE = 5.0
NODES_PER_SECOND = 200  # that are looked at, so that a large cluster is looked at less often


class Caretaker:
    def __init__(self, slurm: Slurm, kubernetes: Kubernetes, patience: Patience, annotation: str) -> None:
        self.slurm, self.kubernetes, self.patience, self.annotation = slurm, kubernetes, patience, annotation

    def round(self) -> float:
        """Until when it may rest, in seconds."""
        if not self.slurm.ready():
            return PAUSE
        world = self.look()
        for action in self.decide(world):
            self.act(action)
        return max(PAUSE, len(world.nodes) / NODES_PER_SECOND)

    def look(self) -> World:
        pods = self.kubernetes.list(f"{self._pods()}?labelSelector=slipway/node-set")
        machines = self.kubernetes.list("/api/v1/nodes")
        return World(
            self.slurm.nodes(),
            {pod.name: pod for pod in map(Pod.read, pods)},
            {machine.name: machine for machine in map(Machine.read, machines)},
        )

    def decide(self, world: World) -> Iterator[Action]:
        yield from cordons(world)
        yield from duplicates(world)
        yield from left_overs(world)
        yield from releases(world)
        if self.annotation:
            yield from reboots(world, self.annotation, self.kubernetes.namespace)
        yield from self.patience.replacements(world)

    def act(self, action: Action) -> None:
        """One that fails does not keep the others."""
        try:
            match action:
                case Drain(node, reason):
                    self.slurm.update(node, "State=DRAIN", f"Reason={reason}")
                case Undrain(node):
                    self.slurm.update(node, "State=UNDRAIN")
                case Replace(pod, uid, _, force):
                    options = {"preconditions": {"uid": uid}, **({"gracePeriodSeconds": 0} if force else {})}
                    self.kubernetes.delete(f"{self._pods()}/{pod}", options)
                case Release(pod, released):
                    change = {"metadata": {"labels": {RELEASED: "yes" if released else None}}}
                    self.kubernetes.patch(f"{self._pods()}/{pod}", change)
                case Annotate(machine, value):
                    change = {"metadata": {"annotations": {self.annotation: value}}}
                    self.kubernetes.patch(f"/api/v1/nodes/{machine}", change)
        except Unanswered as problem:
            say(f"{action}: {problem}")
        else:
            say(str(action))

    def _pods(self) -> str:
        return f"/api/v1/namespaces/{self.kubernetes.namespace}/pods"


def say(text: str) -> None:
    sys.stdout.write(f"caretaker: {text}\n")
    sys.stdout.flush()


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # process 1 would not hear it
    patience = Patience(float(os.environ["STUCK_AFTER"]), os.environ.get("REPLACE_LOST") == "yes")
    caretaker = Caretaker(
        Slurm(int(os.environ["SLURMCTLD_PORT"])), Kubernetes(), patience, os.environ.get("REBOOT_ANNOTATION", "")
    )
    said = ""
    while True:
        pause = PAUSE
        try:
            pause = caretaker.round()
            said = ""
        except (Unanswered, ValueError, KeyError) as problem:
            if str(problem) != said:  # once, however long it lasts
                say(said := str(problem))
        time.sleep(pause)


if __name__ == "__main__":
    main()
