"""What the cluster was last brought to, and what it is being brought to: kept in the cluster itself.

The engine's state cannot tell. After a failed or killed update it holds what was wished for, and only for commands
that ended well does it know their inputs. So every operation first writes down what it is about to do, and last what
it has done and verified; the next one, whoever runs it, knows then where it stands."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from operations.kubectl import Cluster, last_line
from operations.problem import Problem
from slurm.changes import Plan, plan

NAME = "slurm-applied"

Files = Mapping[str, str]


@dataclass(frozen=True)
class Record:
    """`applied` runs and was verified, unless there are `attempts`: then what runs is any of them all, or a mix. The
    last is the one that is under way."""

    applied: Files | None = None
    attempts: tuple[Files, ...] = ()
    since: float = 0.0

    @classmethod
    def read(cls, cluster: Cluster, seconds: float = 60) -> "Record":
        words = ["get", "configmap", NAME, "--output", "json", "--ignore-not-found"]
        shown = cluster.kubectl(*words, f"--request-timeout={seconds:.0f}s", seconds=seconds + 5)
        if shown.returncode:
            raise Problem(f"Kubernetes does not answer: {last_line(shown)}")
        data = json.loads(shown.stdout)["data"] if shown.stdout.strip() else {}
        applied = json.loads(data["applied"]) if "applied" in data else None
        return cls(applied, tuple(json.loads(data.get("attempts", "[]"))), float(data.get("since", 0)))

    def open(self, cluster: Cluster, files: Files) -> "Record":
        """About to bring the cluster to these files. An attempt at the same ones is taken up where it was left."""
        if self.attempts and self.attempts[-1] == files:
            return self
        others = tuple(each for each in self.attempts if each != files)
        return Record(self.applied, (*others, files), time.time()).write(cluster)

    def close(self, cluster: Cluster, files: Files) -> "Record":
        """The cluster runs these files."""
        return Record(files).write(cluster)

    def plan(self, files: Files) -> Plan:
        """What it takes from whatever may run now to these files."""
        may_run = [*([] if self.applied is None else [self.applied]), *self.attempts]
        return Plan(tuple(dict.fromkeys(step for started in may_run for step in plan(started, files).steps)))

    @property
    def certain(self) -> bool:
        """Whether it is known what runs."""
        return self.applied is not None and not self.attempts

    def write(self, cluster: Cluster) -> "Record":
        data = {} if self.applied is None else {"applied": json.dumps(dict(self.applied))}
        data |= {"attempts": json.dumps([dict(each) for each in self.attempts])} if self.attempts else {}
        cluster.config_map(NAME, data | {"since": str(self.since)})
        return self
