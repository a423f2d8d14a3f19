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
    """`applied` runs and was verified, unless there is an `attempt`: then what runs is the one, the other, or a mix."""

    applied: Files | None = None
    attempt: Files | None = None
    since: float = 0.0

    @classmethod
    def read(cls, cluster: Cluster, seconds: float = 60) -> "Record":
        words = ["get", "configmap", NAME, "--output", "json", "--ignore-not-found"]
        shown = cluster.kubectl(*words, f"--request-timeout={seconds:.0f}s", seconds=seconds + 5)
        if shown.returncode:
            raise Problem(f"Kubernetes does not answer: {last_line(shown)}")
        data = json.loads(shown.stdout)["data"] if shown.stdout.strip() else {}
        applied, attempt = (json.loads(data[key]) if key in data else None for key in ("applied", "attempt"))
        return cls(applied, attempt, float(data.get("since", 0)))

    def open(self, cluster: Cluster, files: Files) -> "Record":
        """About to bring the cluster to these files. An attempt at the same ones is taken up where it was left."""
        if self.attempt == files:
            return self
        return Record(self.applied, files, time.time())._write(cluster)

    def close(self, cluster: Cluster, files: Files) -> "Record":
        """The cluster runs these files."""
        return Record(files)._write(cluster)

    def plan(self, files: Files) -> Plan:
        """What it takes from whatever may run now to these files."""
        steps = dict.fromkeys(
            step
            for started in (self.applied, self.attempt)
            if started is not None
            for step in plan(started, files).steps
        )
        return Plan(tuple(steps))

    @property
    def certain(self) -> bool:
        """Whether it is known what runs."""
        return self.applied is not None and self.attempt is None

    def _write(self, cluster: Cluster) -> "Record":
        data = {key: json.dumps(dict(files)) for key, files in self._parts().items()}
        cluster.config_map(NAME, data | {"since": str(self.since)})
        return self

    def _parts(self) -> dict[str, Files]:
        parts = {"applied": self.applied, "attempt": self.attempt}
        return {key: files for key, files in parts.items() if files is not None}
