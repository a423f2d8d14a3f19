"""Slurm's nodes as slurmctld knows them now."""

from dataclasses import dataclass

from operations.kubectl import Cluster
from operations.shown import records

NODES = "scontrol show nodes --oneliner"


@dataclass(frozen=True)
class Node:
    """One node: `states` are the words of its State, such as IDLE, DRAIN and NOT_RESPONDING."""

    name: str
    states: frozenset[str]
    reason: str
    started: str
    fields: dict[str, str]

    @property
    def drained(self) -> bool:
        return "DRAIN" in self.states

    @property
    def responds(self) -> bool:
        """Whether its slurmd serves: it has registered, and answers."""
        return self.states.isdisjoint({"NOT_RESPONDING", "UNKNOWN", "DOWN", "POWERED_DOWN", "POWERING_DOWN", "FUTURE"})

    @property
    def external(self) -> bool:
        """Whether it runs no slurmd: the bridge has made it known, and gives it to pods."""
        return "EXTERNAL" in self.states

    @property
    def stopped(self) -> bool:
        """Whether Slurm itself has stopped it. It starts it again when there is work for it."""
        return not self.states.isdisjoint({"POWERED_DOWN", "POWERING_DOWN"})


def nodes(cluster: Cluster) -> dict[str, Node]:
    return parse(cluster.slurm(NODES, seconds=120))


def parse(shown: str) -> dict[str, Node]:
    return {name: _node(name, fields) for name, fields in records(shown, "NodeName").items()}


def _node(name: str, fields: dict[str, str]) -> Node:
    reason = fields.get("Reason", "").rpartition(" [")[0] or fields.get("Reason", "")
    return Node(name, frozenset(fields["State"].split("+")), reason, fields.get("SlurmdStartTime", ""), fields)
