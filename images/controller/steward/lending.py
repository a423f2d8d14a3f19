"""Which machines are lent, and by which marks the bridge knows them. Nothing is done here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LENT = "slipway/lent"  # by whom: the namespace of the cluster. What has it was marked by a steward, and nothing else
SLURM_NODE = "slinky.slurm.net/slurm-nodename"
EXTERNAL = "scheduler.slinky.slurm.net/external-node"
PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
LABELS, ANNOTATIONS = (LENT, SLURM_NODE, EXTERNAL), (PARTITIONS,)
GRACE = 120.0  # in which a worker pod is replaced


@dataclass(frozen=True)
class Machine:
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    address: str = ""

    @classmethod
    def read(cls, node: Mapping[str, Any]) -> "Machine":
        metadata, addresses = node["metadata"], node.get("status", {}).get("addresses") or []
        own = next((each["address"] for each in addresses if each["type"] == "InternalIP"), "")
        return cls(metadata["name"], metadata.get("labels") or {}, metadata.get("annotations") or {}, own)


@dataclass(frozen=True)
class Worker:
    name: str
    node_set: str
    machine: str  # empty until it has one

    @classmethod
    def read(cls, pod: Mapping[str, Any]) -> "Worker":
        metadata, spec = pod["metadata"], pod["spec"]
        return cls(metadata["name"], metadata["labels"]["slipway/node-set"], spec.get("nodeName") or "")


@dataclass(frozen=True)
class Marked:
    """A machine's labels and annotations of ours as they are to be; None where there is to be none."""

    machine: str
    labels: dict[str, str | None]
    annotations: dict[str, str | None]

    def __str__(self) -> str:
        node = self.labels.get(SLURM_NODE)
        what = f"lent as {node}" if node else "lent" if self.labels.get(LENT) else "no longer lent"
        return f"{self.machine} is {what}"

    @property
    def change(self) -> dict[str, Any]:
        return {"metadata": {"labels": self.labels, "annotations": self.annotations}}


@dataclass
class Lender:
    """What one cluster lends. It remembers since when a worker's pod is away: who is replaced keeps the machine."""

    cluster: str
    node_sets: frozenset[str]
    partition: str
    selector: Mapping[str, str] = field(default_factory=dict)
    away: dict[str, float] = field(default_factory=dict)

    def marks(self, machines: list[Machine], workers: list[Worker], now: float) -> Iterator[Marked]:
        """What is to be changed of the machines' marks."""
        there: dict[str, list[Worker]] = {}
        for worker in workers:
            if worker.machine:
                there.setdefault(worker.machine, []).append(worker)
        placed = {worker.name for worker in workers if worker.machine}
        away: dict[str, float] = {}
        for machine in machines:
            wanted = self._wanted(machine, there.get(machine.name, []))
            node = machine.labels.get(SLURM_NODE, "")
            ours = machine.labels.get(LENT) == self.cluster
            if wanted is None and ours and node and node not in placed and not there.get(machine.name):
                away[machine.name] = self.away.get(machine.name, now)
                if now - away[machine.name] < GRACE and self._of_ours(node):
                    continue
            if wanted is None and not ours:
                continue
            if wanted and machine.labels.get(LENT, self.cluster) != self.cluster:
                continue  # another cluster's, which was first
            marked = _marked(machine, wanted or {})
            if marked:
                yield marked
        self.away = away

    def _of_ours(self, node: str) -> bool:
        return node.rpartition("-")[0] in self.node_sets

    def _wanted(self, machine: Machine, workers: list[Worker]) -> dict[str, str] | None:
        """The marks of a machine that is lent. Slurm could not tell two workers of one machine apart."""
        if CONTROL_PLANE in machine.labels:
            return None
        if len(workers) == 1 and workers[0].node_set in self.node_sets:
            return {LENT: self.cluster, SLURM_NODE: workers[0].name}
        if not workers and self.selector and self.selector.items() <= machine.labels.items():
            return {LENT: self.cluster, EXTERNAL: "true", PARTITIONS: self.partition}
        return None

    def crowded(self, workers: list[Worker]) -> Iterator[str]:
        """Machines that would be lent, had they not two workers, or one of a NodeSet that is not."""
        there: dict[str, list[Worker]] = {}
        for worker in workers:
            there.setdefault(worker.machine, []).append(worker)
        for machine, found in sorted(there.items()):
            if machine and len(found) > 1 and any(each.node_set in self.node_sets for each in found):
                yield f"{machine} is not lent: it has the workers {', '.join(sorted(each.name for each in found))}"


def _marked(machine: Machine, wanted: Mapping[str, str]) -> Marked | None:
    labels = {key: wanted.get(key) for key in LABELS if machine.labels.get(key) != wanted.get(key)}
    annotations = {key: wanted.get(key) for key in ANNOTATIONS if machine.annotations.get(key) != wanted.get(key)}
    return Marked(machine.name, labels, annotations) if labels or annotations else None
