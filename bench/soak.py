"""A day of bad luck in a quarter of an hour: `lab --name bench run -- python bench/soak.py`.

Faults and changes come at random, one after the other, while jobs are submitted all the time. What happens to a cluster
within 24 hours is one of each kind, some of them often; here the next one comes as soon as the last is got over. At the
end every job that was taken has run to its end exactly once, whatever became of it in between, and the cluster is as
its stack says.

One kind of fault is Slurm's own: slurmctld writes its queue down at most every five seconds, so of one that is shot
down without a word (kill -9) nobody remembers what happened just before. Such jobs are counted apart.

With the seed that is printed the same faults come in the same order.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sessions import dev

from operations.kubectl import Cluster
from tests.cluster.changes import change
from tests.cluster.machines import without_power
from tests.cluster.rollout.conftest import CONFIG
from tests.cluster.rollout.jobs import Jobs
from tests.cluster.rollout.test_bad_weather import process_of
from tests.cluster.stacks import Stack, until
from tests.cluster.updates import slipway, updating

DARK, DEAF = 15, 10  # seconds without power, and without an API server
HEALED = 300
UNSAVED = 5 + 1  # seconds between two writes of slurmctld's queue, and what whole seconds in the ledger hide


@dataclass
class Soak:
    """One cluster, its luck, and what has happened to it."""

    stack: Stack
    luck: random.Random
    happened: Counter[str] = field(default_factory=Counter)
    shot: list[float] = field(default_factory=list[float])  # when slurmctld was

    def worker(self) -> str:
        return f"worker-{self.luck.randrange(2)}"

    def controller_pod_is_killed(self) -> None:
        self.stack.kubectl("delete", "pod", "controller-0", "--grace-period=0", "--force")

    def slurmctld_is_killed(self) -> None:
        self._kill("controller-0", "slurmctld", "slurmctld")
        self.shot.append(time.time())

    def worker_pod_is_killed(self) -> None:
        self.stack.kubectl("delete", "pod", self.worker(), "--grace-period=0", "--force")

    def worker_pod_is_evicted(self) -> None:
        self.stack.kubectl("delete", "pod", self.worker(), "--wait=false")

    def slurmd_is_killed(self) -> None:
        self._kill(self.worker(), "slurmd", "slurmd")

    def login_pod_is_killed(self) -> None:
        self.stack.kubectl("delete", "pod", "login-0", "--grace-period=0", "--force")

    def machine_loses_its_power(self) -> None:
        with without_power(self.stack, "compute-0"):
            time.sleep(DARK)

    def api_server_is_deaf(self) -> None:
        server = process_of(self.stack, "kube-apiserver")
        os.kill(server, signal.SIGSTOP)
        try:
            time.sleep(DEAF)
        finally:
            os.kill(server, signal.SIGCONT)

    def partition_is_changed(self) -> None:
        main = self.stack.config["slipway:partitions"]["main"]
        change(self.stack, "partitions", main={**main, "maxTime": f"{self.luck.randrange(10, 2000)}m"})
        self.stack.up("--skip-preview")

    def configuration_is_changed(self) -> None:
        change(self.stack, "slurm", extra={"KillWait": self.luck.randrange(20, 60)})
        self.stack.up("--skip-preview")

    def cluster_grows_and_shrinks(self) -> None:
        for size in (3, 2):
            change(self.stack, "worker", size=size)
            self.stack.up("--skip-preview")

    def update_is_killed(self) -> None:
        change(self.stack, "slurm", extra={"KillWait": self.luck.randrange(20, 60)})
        with updating(self.stack) as update:
            update.until_it_says("rollout-apply updating")
            update.process.kill()
            update.process.wait()
        done = slipway(self.stack, "up", "--yes", "--skip-preview", "--config-file", str(self.stack.file))
        assert done.returncode == 0, done.stdout + done.stderr  # noqa: S101

    def _kill(self, pod: str, container: str, process: str) -> None:
        """As soon as somebody can: the last fault may have left nobody there to ask."""
        words = ["exec", pod, "-c", container, "--", "sh", "-c", f"kill -9 $(pidof {process})"]
        killed = (0, 137)  # who is in the container may go with it
        cluster = Cluster(self.stack.namespace)
        until(lambda: cluster.kubectl(*words).returncode in killed, f"{process} to be killed", HEALED)

    def strike(self) -> None:
        """One fault, and the way back from it."""
        name, fault = self.luck.choice(list(self.faults().items()))
        self.happened[name] += 1
        began = time.monotonic()
        fault()
        try:
            until(self.serves, f"the cluster to serve again after: {name}", HEALED)
        except AssertionError:
            self.tell()
            raise
        sys.stderr.write(f"{name}: {time.monotonic() - began:.1f} s\n")

    def tell(self) -> None:
        """All that somebody would look at who was called now."""
        cluster = Cluster(self.stack.namespace)
        for words in (
            ["get", "pods", "--output=wide"],
            ["exec", "controller-0", "-c", "slurmctld", "--", "sh", "-c", "sinfo -lN; sinfo -R; scontrol show nodes"],
            ["logs", "controller-0", "-c", "slurmctld", "--tail=400"],
            *(["logs", pod, "-c", "slurmd", "--tail=40"] for pod in ("worker-0", "worker-1")),
        ):
            done = cluster.kubectl(*words)
            sys.stderr.write(f"--- kubectl {' '.join(words)}\n{done.stdout}{done.stderr}")

    def serves(self) -> bool:
        """All nodes take jobs, as a user finds out."""
        nodes = self.stack.ssh("sinfo --noheader --Node --format='%T'", seconds=60)
        states = {state.rstrip("*") for state in nodes.stdout.split()}
        return nodes.returncode == 0 and bool(states) and states <= {"idle", "allocated", "mixed", "completing"}

    @classmethod
    def named(cls) -> list[str]:
        return [name for name in vars(cls) if "_is_" in name or name.startswith(("machine_", "cluster_"))]

    def faults(self) -> dict[str, Callable[[], None]]:
        return {name.replace("_", " "): getattr(self, name) for name in self.named()}


def forgotten(jobs: Jobs, shot: list[float]) -> set[str]:
    """Jobs to which something happened that slurmctld may not have written down before it was shot."""
    events = [*jobs.submitted.items(), *((job, float(when)) for _, job, when in jobs.ledger())]
    return {job for job, when in events for end in shot if end - UNSAVED <= when <= end + 1}


def lost(jobs: Jobs) -> dict[str, int]:
    """Jobs that were taken and did not come to their end exactly once, with how often they did."""
    ended = Counter(job for word, job, _ in jobs.ledger() if word == "end")
    return {job: ended[job] for job in jobs.submitted if ended[job] != 1}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15, help="(default: 15)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same faults again")
    args = parser.parse_args()
    sys.stdout.write(f"seed {args.seed}\n")
    with tempfile.TemporaryDirectory() as folder:
        stack = Stack.create(dev(folder).lab, "rollout", Path(folder), **CONFIG, health={"enabled": True})
        stack.up("--skip-preview")
        soak = Soak(stack, random.Random(args.seed))  # noqa: S311 -- luck, no secret
        # A job without a limit has that of its partition when it starts, and keeps it when it has to start again.
        jobs = Jobs(stack, "--time=5")
        jobs.start()
        end = time.monotonic() + 60 * args.minutes
        while time.monotonic() < end:
            soak.strike()
        jobs.stop(60 * args.minutes)  # what could not run meanwhile has to catch up
        missing, risked = lost(jobs), forgotten(jobs, soak.shot)
        again = stack.pulumi("preview", "--expect-no-changes")
        stack.destroy()
    sys.stdout.write("".join(f"{count:>4}  {name}\n" for name, count in soak.happened.most_common()))
    sys.stdout.write(f"{sum(soak.happened.values())} faults; {len(jobs.submitted)} jobs were taken\n")
    unsaved = {job: missing.pop(job) for job in risked & missing.keys()}
    sys.stdout.write(f"jobs that did not end exactly once: {missing or 'none'}\n")
    sys.stdout.write(f"of {len(risked)} that slurmctld had no time to write down: {unsaved or 'none'}\n")
    sys.stdout.write(f"the next update changes {again.stdout if again.returncode else 'nothing'}\n")
    return 0 if not missing and not again.returncode else 1


if __name__ == "__main__":
    sys.exit(main())
