"""What a round begins with: Slurm's nodes, their pods, and the machines that these are on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

OWNED = "slipway:"
REMOVED = "ToBeDeletedByClusterAutoscaler"  # the taint of a machine that a cluster autoscaler has chosen
RELEASED = "slipway/released"
BUSY = {"ALLOCATED", "MIXED", "COMPLETING"}
STOPPED = {"POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_UP", "FUTURE"}
REBOOTING = {"REBOOT_REQUESTED", "REBOOT_ISSUED"}


@dataclass(frozen=True)
class Node:
    """A node as slurmctld knows it."""

    name: str
    states: frozenset[str]
    reason: str = ""

    @property
    def node_set(self) -> str:
        return self.name.rpartition("-")[0]

    @property
    def drained(self) -> bool:
        return "DRAIN" in self.states

    @property
    def busy(self) -> bool:
        return bool(self.states & BUSY)

    @property
    def in_service(self) -> bool:
        """Whether a job could start on it, now or as soon as it answers."""
        return self.states.isdisjoint({"DRAIN", "DOWN", "FAIL", *STOPPED, *REBOOTING})

    def drained_for(self, reason: str) -> bool:
        return self.drained and self.reason.startswith(reason)


@dataclass(frozen=True)
class Pod:
    name: str
    uid: str = ""
    machine: str = ""  # empty until Kubernetes has found one
    ready: bool = True
    ending: bool = False
    created: float = 0.0
    released: bool = False  # by its label: whoever empties the machine may have it

    @classmethod
    def read(cls, shown: Mapping[str, Any]) -> "Pod":
        metadata, status = shown["metadata"], shown.get("status", {})
        return cls(
            metadata["name"],
            metadata["uid"],
            shown["spec"].get("nodeName", ""),
            _condition(status, "Ready") == "True",
            "deletionTimestamp" in metadata,
            datetime.fromisoformat(metadata["creationTimestamp"].replace("Z", "+00:00")).timestamp(),
            RELEASED in metadata.get("labels", {}),
        )


@dataclass(frozen=True)
class Machine:
    """A Kubernetes node. `away` says why nothing new should start there; it is empty otherwise."""

    name: str
    away: str = ""
    ready: bool = True
    boot: str = ""  # another one after each boot
    annotations: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, shown: Mapping[str, Any]) -> "Machine":
        metadata, spec, status = shown["metadata"], shown.get("spec", {}), shown.get("status", {})
        name, ready = metadata["name"], _condition(status, "Ready") == "True"
        away = ""
        if "deletionTimestamp" in metadata or any(each["key"] == REMOVED for each in spec.get("taints", [])):
            away = f"{name} is about to be removed"
        elif spec.get("unschedulable"):
            away = f"{name} is cordoned"
        elif not ready:
            away = f"{name} is not ready"
        boot = status.get("nodeInfo", {}).get("bootID", "")
        return cls(name, away, ready, boot[:8], metadata.get("annotations", {}))


def _condition(status: Mapping[str, Any], kind: str) -> str:
    return next((each["status"] for each in status.get("conditions", []) if each["type"] == kind), "")


@dataclass(frozen=True)
class World:
    nodes: Mapping[str, Node]
    pods: Mapping[str, Pod]
    machines: Mapping[str, Machine]
    now: float = field(default_factory=time.time)

    def machine_of(self, node: Node) -> Machine | None:
        """Where the node's pod is; None if it is nowhere. One that Kubernetes knows no more is away."""
        pod = self.pods.get(node.name)
        if pod is None or not pod.machine:
            return None
        return self.machines.get(pod.machine, Machine(pod.machine, f"{pod.machine} is gone", ready=False))
