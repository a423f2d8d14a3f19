"""What the cluster was last brought to, and what it is being brought to: kept in the cluster itself.

The engine's state cannot tell. After a failed or killed update it holds what was wished for, and only for commands
that ended well does it know their inputs. So every operation first writes down what it is about to do, and last what
it has done and verified; the next one, whoever runs it, knows then where it stands."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from operations.kubectl import Cluster, last_line
from operations.problem import Problem
from slurm.changes import Plan, plan

NAME = "slurm-applied"

Files = Mapping[str, str]


@dataclass(frozen=True)
class Record:
    """`applied` runs and was verified, unless there are `attempts`: then what runs is any of them all, or a mix. The
    last is the one that is under way. `key` is a digest of the key that its daemons know each other by."""

    applied: Files | None = None
    attempts: tuple[Files, ...] = ()
    since: float = 0.0
    key: str = ""

    @classmethod
    def read(cls, cluster: Cluster, seconds: float = 60) -> "Record":
        words = ["get", "configmap", NAME, "--output", "json", "--ignore-not-found"]
        shown = cluster.kubectl(*words, f"--request-timeout={seconds:.0f}s", seconds=seconds + 5)
        if shown.returncode:
            raise Problem(f"Kubernetes does not answer: {last_line(shown)}")
        data = json.loads(shown.stdout)["data"] if shown.stdout.strip() else {}
        applied = json.loads(data["applied"]) if "applied" in data else None
        return cls(
            applied, tuple(json.loads(data.get("attempts", "[]"))), float(data.get("since", 0)), data.get("key", "")
        )

    def open(self, cluster: Cluster, files: Files) -> "Record":
        """About to bring the cluster to these files. An attempt at the same ones is taken up where it was left."""
        if self.attempts and self.attempts[-1] == files:
            return self
        others = tuple(each for each in self.attempts if each != files)
        return replace(self, attempts=(*others, files), since=time.time()).write(cluster)

    def close(self, cluster: Cluster, files: Files, key: str = "") -> "Record":
        """The cluster runs these files, and its controller has this key, or the one that it had."""
        return Record(files, key=key or self.key).write(cluster)

    def rekeys(self, key: str) -> bool:
        """Whether daemons with this key would not understand those that run."""
        return bool(self.key and key and self.key != key)

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
        data |= {"key": self.key} if self.key else {}
        cluster.config_map(NAME, data | {"since": str(self.since)})
        return self
