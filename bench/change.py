"""From a changed config to a Slurm that runs it: `lab --name bench run -- python bench/change.py`.

Four things are measured on the dev stack, each in one run with what it is compared to:

- a partition change, from the write of the ConfigMap until it is verified; beside it the same change as an operator
  brings it about: wait until the kubelet has refreshed the volume, seen by a look every five seconds, and reconfigure;
- the whole `pulumi up` for such a change, beside one that changes nothing;
- `worker.size` from 2 to 4, from the moment the engine applies it until both new nodes have run a job, and how long
  slurmctld takes to answer meanwhile;
- `scontrol reconfigure` with 1,000 and 10,000 configured nodes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, TypeVar

from daemon import measure
from sessions import dev, ratio, table, verdict

from components.change import environment
from config import Settings
from lab import paths
from operations.digest import DIGEST, digest
from operations.kubectl import Cluster
from slurm.render import render
from tests.cluster.changes import change
from tests.cluster.stacks import Stack, until

SECONDS, TIMES, UP, SCALE, ANSWER = 2.5, 25, 2.5, 6.0, 1.0
POLL = 5
# From a question to its answer: one that fails at once is none, and is asked again until it does not.
PINGS = """
for i in 1 2 3 4 5 6 7 8 9 10; do
    date +%s.%N; until scontrol ping | grep -q 'is UP'; do sleep 0.01; done; date +%s.%N
done
"""
PUSH = ["patch", "configmap", "slurm-config", "--type=merge", "--patch-file=/dev/stdin"]


T = TypeVar("T")


class Bench:
    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.cluster = Cluster(stack.namespace)
        self._minutes = 1000

    def next(self) -> Settings:
        """The stack with another time limit of its partition."""
        self._minutes += 1
        partitions = self.stack.config["slipway:partitions"]
        change(self.stack, "partitions", main={**partitions["main"], "maxTime": f"{self._minutes}m"})
        keys = {key: value if isinstance(value, str) else json.dumps(value) for key, value in self.stack.config.items()}
        return Settings.load(keys, os.environ)

    def write(self, files: dict[str, str]) -> None:
        """The ConfigMap, as the engine writes it."""
        done = self.cluster.kubectl(*PUSH, stdin=json.dumps({"data": files}))
        assert done.returncode == 0, done.stderr  # noqa: S101

    def ours(self) -> float:
        settings = self.next()
        files = render(settings)
        env = {**os.environ, **environment(settings)}
        run = [paths.CHECKOUT / "operations" / "run", "apply"]
        # As in an update, where the rehearsal comes before the write.
        subprocess.run(
            [run[0], "prepare"], env=env, input=json.dumps(files), text=True, check=True, capture_output=True
        )
        began = time.perf_counter()
        self.write(files)
        subprocess.run(run, env=env, input=json.dumps(files), text=True, check=True, capture_output=True)
        return time.perf_counter() - began

    def waiting(self) -> float:
        """As an operator does it: nobody touches the pod, a sidecar looks every five seconds."""
        settings = self.next()
        files = render(settings)
        began = time.perf_counter()
        self.write(files)
        loop = f'until [ "$({DIGEST})" = "$1" ]; do sleep {POLL}; done; scontrol reconfigure'
        done = self.cluster.controller(loop, digest(files), seconds=300)
        assert done.returncode == 0, done.stderr  # noqa: S101
        took = time.perf_counter() - began
        self.cluster.kubectl("delete", "configmap", "slurm-applied")  # what runs is not what we have brought about
        return took

    def up(self) -> float:
        self.next()
        return timed(lambda: self.stack.up("--skip-preview"))

    def nothing(self) -> float:
        return timed(lambda: self.stack.up("--skip-preview"))

    def scale(self) -> tuple[float, float]:
        """Seconds from the engine's first word about the StatefulSet until both nodes have run a job; and the slowest
        answer of slurmctld in that time."""
        answers: list[float] = []
        over = threading.Event()
        asking = threading.Thread(target=self._ask, args=(over, answers))
        self.stack.set("worker.size", "4")
        argv = ["pulumi", "up", "--yes", "--skip-preview", "--stack", self.stack.name, "--non-interactive"]
        asking.start()
        with subprocess.Popen(
            [*argv, "--config-file", str(self.stack.file)], cwd=paths.CHECKOUT, text=True, stdout=subprocess.PIPE
        ) as update:
            began = 0.0
            for line in update.stdout or ():
                if "StatefulSet dev-worker updating" in line:
                    began = time.perf_counter()
                    break
            self._both_run_a_job()
            took = time.perf_counter() - began
            update.communicate()
        over.set()
        asking.join()
        self.stack.set("worker.size", "2")
        self.stack.up("--skip-preview")
        return took, max(answers)

    def _both_run_a_job(self) -> None:
        """As a user who tries until it works. One who waits in the queue may wait longer: what comes before the new
        nodes have registered is looked at three seconds after slurmctld's start, and a reconfigure is one."""
        loop = (
            "until srun --immediate --nodelist=worker-[2-3] --nodes=2 --chdir=/tmp true; do sleep 0.1; done 2>/dev/null"
        )
        until(lambda: self.stack.ssh(loop, seconds=120).returncode == 0, "both new nodes to run a job", 120)

    def _ask(self, over: threading.Event, answers: list[float]) -> None:
        """From inside the pod, so that kubectl is not measured."""
        while not over.is_set():
            stamps = [float(stamp) for stamp in self.cluster.controller(PINGS).stdout.split()]
            answers += [later - earlier for earlier, later in zip(stamps[::2], stamps[1::2], strict=False)]


def shown(what: str, seconds: T) -> T:
    """Progress, for half an hour that would be silent otherwise."""
    sys.stderr.write(f"{what}: {seconds}\n")
    return seconds


def timed(what: Callable[[], Any]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="of each thing (default: 20)")
    parser.add_argument("--waits", type=int, help="of the slow way, a minute each (default: as --runs)")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="of the four (default: all)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stack = dev(folder)
        stack.up("--skip-preview")
        bench = Bench(stack)
        verdicts = []
        for part in args.only:
            lines, within = PARTS[part](bench, args.runs, args.waits or args.runs)
            verdicts.append(within)
            sys.stdout.write("\n".join(lines) + "\n\n")
    return 0 if all(verdicts) else 1


Found = tuple[list[str], bool]


def changes(bench: Bench, runs: int, waits: int) -> Found:
    slow, quick = [], []
    # By turns, so that whatever else the machine does happens to both.
    for ours, waiting in zip_longest(range(runs), range(waits)):
        if waiting is not None:
            slow.append(shown("propagation and polling", bench.waiting()))
            bench.stack.up("--skip-preview")
        if ours is not None:
            quick.append(shown("slipway", bench.ours()))
    bench.stack.up("--skip-preview")
    faster = ratio(slow, quick)
    lines = [
        *table("s from ConfigMap to verified", {"slipway": quick, "propagation and polling": slow}),
        verdict("worst", max(quick), max(quick) <= SECONDS, f"{SECONDS} s"),
        verdict("times faster", faster, faster >= TIMES, f"at least {TIMES}"),
    ]
    return lines, max(quick) <= SECONDS and faster >= TIMES


def updates(bench: Bench, runs: int, _: int) -> Found:
    changed, unchanged = [], []
    for _ in range(runs):
        changed.append(shown("up, one partition changed", bench.up()))
        unchanged.append(shown("up, nothing changed", bench.nothing()))
    longer = ratio(changed, unchanged)
    lines = [
        *table("s for `pulumi up`", {"one partition changed": changed, "nothing changed": unchanged}),
        verdict("ratio", longer, longer <= UP, f"{UP}"),
    ]
    return lines, longer <= UP


def scaling(bench: Bench, runs: int, _: int) -> Found:
    scaled = [shown("scale, slowest answer", bench.scale()) for _ in range(runs)]
    worst, answer = max(took for took, _ in scaled), max(answer for _, answer in scaled)
    lines = [
        *table("s until both new nodes have run a job", {"worker.size 2 to 4": [took for took, _ in scaled]}),
        verdict("worst", worst, worst <= SCALE, f"{SCALE} s"),
        verdict("slowest scontrol ping", answer, answer <= ANSWER, f"{ANSWER} s"),
    ]
    return lines, worst <= SCALE and answer <= ANSWER


def reconfigures(bench: Bench, runs: int, _: int) -> Found:
    nodes = {
        f"{number} nodes": [
            shown(f"reconfigure {number}", measure(bench.cluster, number).reconfigure) for _ in range(runs)
        ]
        for number in (1000, 10000)
    }
    return table("s for `scontrol reconfigure`", nodes), True


PARTS: dict[str, Callable[[Bench, int, int], Found]] = {
    "change": changes,
    "up": updates,
    "scale": scaling,
    "reconfigure": reconfigures,
}

if __name__ == "__main__":
    sys.exit(main())
