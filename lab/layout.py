"""What a lab is made of: its nodes, and the addresses that they and their pods get.

A lab has a slot, a small number, and all its addresses follow from it. So two labs (the one of `make up` and the one
of `make test`) never meet, and nothing has to be looked up."""

import json
import re
from collections.abc import Container
from dataclasses import asdict, dataclass
from pathlib import Path

from lab import paths
from lab.problem import Problem

DEFAULT = "dev"  # has slot 0, so that its NodePorts are on the address that everybody knows
SLOTS = 5
ENFORCES = "network-policies"  # a file in the home of a lab whose nodes enforce NetworkPolicies
NODE_PORTS = range(30000, 32768)  # Kubernetes' default
ROLES = frozenset({"control-plane", "system", "compute"})


@dataclass(frozen=True)
class Node:
    name: str
    role: str  # one of ROLES
    index: int
    slot: int

    @property
    def address(self) -> str:
        return f"10.{210 + self.slot}.0.{10 + self.index}"

    @property
    def pod_subnet(self) -> str:
        return f"10.{210 + self.slot}.{128 + self.index}.0/24"

    @property
    def interface(self) -> str:
        """The machine's end of the node's network cable."""
        return f"slipway{self.slot}n{self.index}"


@dataclass(frozen=True)
class Lab:
    name: str
    slot: int
    compute: int = 1  # how many compute nodes

    @property
    def home(self) -> Path:
        return paths.labs() / self.name

    @property
    def enforces(self) -> bool:
        """Whether its nodes enforce NetworkPolicies."""
        return (self.home / ENFORCES).exists()

    @property
    def nodes(self) -> list[Node]:
        names = [("control-plane", "control-plane"), ("system-0", "system")]
        names += [(f"compute-{n}", "compute") for n in range(self.compute)]
        return [Node(name, role, index, self.slot) for index, (name, role) in enumerate(names)]

    def node(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise Problem(f"Lab {self.name} has no node {name}; it has {', '.join(n.name for n in self.nodes)}.")

    @property
    def control_plane(self) -> Node:
        return self.nodes[0]

    @property
    def bridge(self) -> str:
        return f"slipway{self.slot}"

    @property
    def bridge_address(self) -> str:
        return f"10.{210 + self.slot}.0.1"

    @property
    def network(self) -> str:
        return f"10.{210 + self.slot}.0.0/16"

    @property
    def pods(self) -> str:
        return f"10.{210 + self.slot}.128.0/17"

    @property
    def services(self) -> str:
        return f"10.{210 + self.slot}.64.0/20"

    @property
    def kubernetes_service(self) -> str:
        return f"10.{210 + self.slot}.64.1"

    @property
    def dns(self) -> str:
        return f"10.{210 + self.slot}.64.10"

    @property
    def server(self) -> str:
        return f"https://{self.control_plane.address}:6443"

    @property
    def loopback(self) -> str:
        """Where this machine reaches the NodePorts. Each lab has all of them, on an address of its own, so that one
        stack file suits them all."""
        return f"127.0.0.{1 + self.slot}"

    @property
    def cgroup(self) -> str:
        return self.bridge

    @property
    def kubeconfig(self) -> Path:
        return self.home / "kubeconfig"

    def save(self) -> None:
        """Remember what this lab is made of. The file is the first thing made and the last removed."""
        self.home.mkdir(parents=True, exist_ok=True)
        part = self.home / "lab.json.part"
        part.write_text(json.dumps(asdict(self)))
        part.rename(self.home / "lab.json")


def find(name: str) -> Lab | None:
    """The lab of that name if one was ever begun and not taken down; a half-written record counts as none."""
    try:
        return Lab(**json.loads((paths.labs() / name / "lab.json").read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def everyone() -> list[Lab]:
    names = sorted(record.parent.name for record in paths.labs().glob("*/lab.json"))
    return [lab for lab in map(find, names) if lab]


def choose(name: str, compute: int, elsewhere: Container[int] = ()) -> Lab:
    """The lab of that name as it is, or a new one in a free slot: not ours, and not one that is in use `elsewhere`."""
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,15}", name):
        raise Problem(f"`{name}` cannot name a lab: lower-case letters, digits and dashes, at most 16.")
    existing = find(name)
    if existing:
        if existing.compute != compute:
            raise Problem(
                f"Lab {name} runs with {existing.compute} compute node(s), not {compute}.\n"
                f"  Take it down first: `uv run lab --name {name} down`."
            )
        return existing
    if name == DEFAULT:
        return Lab(name, 0, compute)
    taken = {lab.slot for lab in everyone()}
    free = [slot for slot in range(1, SLOTS) if slot not in taken and slot not in elsewhere]
    if not free:
        running = ", ".join(lab.name for lab in everyone())
        raise Problem(f"All {SLOTS} places for labs are taken ({running}): take one down with `lab --name NAME down`.")
    return Lab(name, free[0], compute)
