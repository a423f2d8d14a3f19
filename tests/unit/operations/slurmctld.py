"""A slurmctld in a few lines: what it makes of its files, its nodes, partitions and jobs, and what scontrol shows."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from slurm.conf import parse
from slurm.hostlist import compress, expand

Fields = dict[str, str]

# Shown whether or not the file says so.
DEFAULTS = {"SchedulerParameters": "(null)", "PriorityWeightAge": "0", "SuspendTime": "INFINITE", "KillWait": "30 sec"}


@dataclass
class Job:
    number: int
    partition: str = "main"
    nodes: str = ""
    user: str = "alice"
    count: int = 1
    wanted: str = ""
    feature: str = "(null)"

    @property
    def state(self) -> str:
        return "RUNNING" if self.nodes else "PENDING"


@dataclass
class Node:
    states: set[str]
    started: str = ""
    reason: str = ""
    fields: Fields = field(default_factory=dict)

    @property
    def answers(self) -> bool:
        return self.states.isdisjoint({"NOT_RESPONDING", "UNKNOWN", "DOWN"})


class Slurmctld:
    """`refuses` is a text that a reconfigure fails with; one that is `deaf` takes no notice of live updates."""

    def __init__(self) -> None:
        self.up = True
        self.refuses = ""
        self.deaf = False
        self.boot = ""
        self.log: list[str] = []
        self.config: Fields = {}
        self.partitions: dict[str, Fields] = {}
        self.nodesets: set[str] = set()
        self.nodes: dict[str, Node] = {}
        self.jobs: list[Job] = []
        self.lost: list[int] = []

    def read(self, files: Mapping[str, str], now: str) -> None:
        """Start with these files, or take them over: jobs of what is not in them any more are lost."""
        conf = parse(files["slurm.conf"])
        self.boot = now
        self.config = {**DEFAULTS, **conf.keys}
        self.partitions = {name: {"AllowGroups": "ALL", **fields} for name, fields in conf.partitions.items()}
        self.nodesets = {*conf.nodesets}
        dynamic = {name: node for name, node in self.nodes.items() if "DYNAMIC_NORM" in node.states}
        before, self.nodes = self.nodes, dynamic
        for line, fields in conf.nodes.items():
            for name in expand(line):
                node = self.nodes[name] = before.get(name) or Node({"IDLE", "NOT_RESPONDING"})
                node.fields = _hardware(fields)
        for node in self.nodes.values():
            if node.answers:
                node.started = now
        gone = [
            job for job in self.jobs if job.partition not in self.partitions or set(expand(job.nodes)) - {*self.nodes}
        ]
        self.lost += [job.number for job in gone]
        self.jobs = [job for job in self.jobs if job not in gone]

    def reconfigure(self, files: Mapping[str, str], now: str) -> str:
        if self.refuses and self.refuses in files["slurm.conf"]:
            self.log.append(f"[{now}] error: {self.refuses} is not what this slurmctld likes")
            return "slurm_reconfigure error: Invalid configuration\n"
        self.read(files, now)
        return ""

    def scontrol(self, line: str) -> None:
        """A live update."""
        _, verb, *words = shlex.split(line)
        if self.deaf:
            return
        if verb == "setdebug":
            self.config["SlurmctldDebug"] = words[0]
            return
        pairs = dict(word.split("=", 1) for word in words)
        if verb == "delete":
            del self.partitions[pairs["PartitionName"]]
        elif name := pairs.pop("PartitionName", None):
            new: Fields = {"AllowGroups": "ALL"} if verb == "create" else self.partitions[name]
            self.partitions[name] = {**new, **pairs}
        else:
            for name in expand(pairs.pop("NodeName")):
                self.nodes[name].fields.update(pairs)

    def register(self, name: str, now: str, dynamic: bool = False) -> None:
        """A slurmd has started. It takes the drain of its predecessor's end away."""
        node = self.nodes.setdefault(name, Node({"IDLE", "DYNAMIC_NORM"} if dynamic else {"IDLE"}))
        node.states -= {"NOT_RESPONDING", "UNKNOWN", "DOWN"}
        node.started = now
        if node.reason == "slipway:stopping":
            self.undrain(name)

    def drain(self, names: str, reason: str) -> None:
        for name in expand(names):
            self.nodes[name].states.add("DRAIN")
            self.nodes[name].reason = reason

    def undrain(self, names: str) -> None:
        for name in expand(names):
            self.nodes[name].states.discard("DRAIN")
            self.nodes[name].reason = ""

    @property
    def drained(self) -> dict[str, str]:
        return {name: node.reason for name, node in self.nodes.items() if "DRAIN" in node.states}

    def end(self, verb: str, numbers: list[str]) -> None:
        chosen = [job for job in self.jobs if str(job.number) in numbers]
        if verb == "scancel":
            self.jobs = [job for job in self.jobs if job not in chosen]
        for job in chosen:
            job.nodes = ""

    def show(self) -> str:
        config = "".join(f"{key:<23} = {value}\n" for key, value in {**self.config, "BOOT_TIME": self.boot}.items())
        partitions = "".join(
            f"PartitionName={name} {_written({**fields, 'Nodes': self._members(fields)})} TotalNodes=9\n"
            for name, fields in self.partitions.items()
        )
        return f"=== config\n{config}=== partitions\n{partitions}=== nodes\n{self.show_nodes()}"

    def _members(self, fields: Fields) -> str:
        """The nodes that a partition has now: those of NodeSets are known by their names here."""
        words = expand(fields.get("Nodes", ""))
        known = [name for name in self.nodes if name.rpartition("-")[0] in self.nodesets & {*words}]
        return compress([*(word for word in words if word not in self.nodesets), *known]) or "(null)"

    def show_nodes(self) -> str:
        lines = []
        for name, node in self.nodes.items():
            head = f"NodeName={name} Arch=x86_64 {_written(node.fields)} OS=Linux 6.1.0 #1 SMP Debian 6.1.1"
            reason = f" Reason={node.reason} [root@2027-01-15T08:00:00]" if node.reason else ""
            states = "+".join(sorted(node.states, key=lambda word: (word != "IDLE", word)))
            lines.append(f"{head} State={states} ThreadsPerCore=1 SlurmdStartTime={node.started or 'None'}{reason}\n")
        return "".join(lines)

    def queue(self, names: str, partitions: str) -> str:
        """Who is on these nodes, and who is on or waits for these partitions."""
        lines = [
            f"{job.number}|{job.state}|{job.partition}|{job.nodes}|{job.user}\n"
            for job in self.jobs
            if set(expand(job.nodes)) & set(expand(names)) or job.partition in partitions.split(",")
        ]
        return "".join(lines)

    def pending(self) -> str:
        return "".join(
            f"{job.number}|{job.user}|{job.partition}|{job.count}|{job.wanted}|{job.feature}\n"
            for job in self.jobs
            if not job.nodes
        )


def _hardware(fields: Fields) -> Fields:
    names = {"CPUs": "CPUTot", "Features": "AvailableFeatures"}
    return {"Gres": "(null)", "Weight": "1", **{names.get(key, key): value for key, value in fields.items()}}


def _written(fields: Fields) -> str:
    return " ".join(f"{key}={value}" for key, value in fields.items())
