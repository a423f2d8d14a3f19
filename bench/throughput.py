"""What Kubernetes costs in jobs per second: `lab --name bench run -- python bench/throughput.py`.

1,000 batch jobs that do nothing, from the first sbatch until the last has ended, in the cluster and on the same Slurm
outside Kubernetes on the same machine, in turns. The target is at least 0.9 times as many a second.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from outside import running
from sessions import Login, dev, ratio, table, verdict

TARGET = 0.9
# Two nodes with one CPU each would wait most of the time: slurmctld looks for places for more jobs every three
# seconds. With these, on both sides, it is work that is measured and not a timer.
BUSY = {
    "partitions": {"main": {"nodeSets": ["worker"], "default": True, "overSubscribe": "FORCE:20"}},
    "slurm": {"extra": {"SchedulerParameters": "bf_continue,bf_max_job_test=1000,bf_interval=30,batch_sched_delay=1"}},
}

# As one array, or by as many calls of sbatch. squeue shows what waits, runs or ends.
LOOP = """
import json, subprocess, sys, time
jobs, how = int(sys.argv[1]), sys.argv[2]
def call(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
sbatch = ["sbatch", "--parsable", "--output=/dev/null", "--chdir=/tmp", "--mem=8", "--wrap=true"]
began = time.perf_counter()
if how == "array":
    ids = [call(*sbatch, f"--array=1-{jobs}").strip()]
else:
    ids = [call(*sbatch).strip() for _ in range(jobs)]
submitted = time.perf_counter() - began
while call("squeue", "--noheader", "--me"):
    time.sleep(0.2)
ended = time.perf_counter() - began
shown = call("squeue", "--noheader", "--array", "--states=all", "--format=%T", "--me", "--jobs=" + ",".join(ids))
if shown.split() != ["COMPLETED"] * jobs:
    sys.exit(f"not all {jobs} jobs have completed: {sorted(set(shown.split()))}")
print(json.dumps([submitted, ended]))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000, help="in each round (default: 1000)")
    parser.add_argument("--rounds", type=int, default=3, help="on each side (default: 3)")
    parser.add_argument("--how", choices=["array", "single"], default="array", help="one array, or a loop of sbatch")
    parser.add_argument("--no-limits", action="store_true", help="outside without the CPU limits of the pods")
    args = parser.parse_args()
    sides: dict[str, list[float]] = {"in the cluster": [], "outside Kubernetes": []}
    with tempfile.TemporaryDirectory() as folder:
        stack = dev(folder, **BUSY)
        stack.up()
        # On the lab's own disk, as the cluster's volumes are.
        with (
            tempfile.TemporaryDirectory(prefix="outside-", dir=stack.lab.home) as scratch,
            running(stack, Path(scratch), limited=not args.no_limits) as outside,
        ):
            logins = (Login(stack.lab.loopback, stack.port), outside)
            for _ in range(args.rounds):
                for samples, login in zip(sides.values(), logins, strict=True):
                    submitted, ended = login.measure(LOOP, str(args.jobs), args.how)
                    samples.append(args.jobs / ended)
                    sys.stderr.write(f"{login.address}: submitted in {submitted:.1f} s, ended after {ended:.1f} s\n")
    found = ratio(*sides.values())
    title = f"jobs/s ({args.jobs} jobs, {args.how})"
    lines = [*table(title, sides, more_is_better=True), verdict("ratio", found, found >= TARGET, f"{TARGET}")]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if found >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
