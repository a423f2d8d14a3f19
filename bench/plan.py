"""How long a plan takes: `python bench/plan.py`.

Two clusters of 10,000 nodes in 200 NodeSets and 50 partitions; between them every NodeSet grows and every weight and
time limit changes. The target is half a second. The same with ten times the nodes in each NodeSet should cost no more,
and with half and twice the NodeSets half and twice as much.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from slurm.changes import Plan, plan

TARGET = 0.5
ROUNDS = 5


def cluster(nodesets: int, size: int, partitions: int, weight: int, grown: int = 0) -> dict[str, str]:
    """Files as they are rendered, with `grown` nodes more in each NodeSet."""
    last = size + grown - 1
    conf = ["ClusterName=bench", "SlurmctldHost=controller-0", f"SchedulerParameters=bf_max_job_test={weight}"]
    gres = []
    for at in range(nodesets):
        name = f"set{at}"
        hosts = f"{name}-[0-{last}]"
        conf.append(
            f"NodeName={hosts} NodeHostname={hosts} NodeAddr={hosts}.{name}.slurm.svc CPUs=8 RealMemory=16000 "
            f"Gres=gpu:8 Feature={name},rack{at % 20} Weight={weight + at}"
        )
        gres.append(f"NodeName={hosts} Name=gpu File=/dev/nvidia[0-7]")
    for at in range(partitions):
        members = ",".join(f"set{each}-[0-{last}]" for each in range(at, nodesets, partitions))
        conf.append(
            f"PartitionName=part{at} Nodes={members} MaxTime={weight * 60} Default={'YES' if at == 0 else 'NO'}"
        )
    return {"slurm.conf": "\n".join(conf) + "\n", "gres.conf": "\n".join(gres) + "\n"}


def measure(nodesets: int, size: int, partitions: int) -> tuple[float, Plan]:
    """The best of several rounds, in seconds."""
    old = cluster(nodesets, size, partitions, weight=1)
    new = cluster(nodesets, size, partitions, weight=2, grown=2)
    best, found = float("inf"), Plan()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = plan(old, new)
        best = min(best, time.perf_counter() - began)
    return best, found


def main() -> int:
    lines = [f"{'nodes':>9} {'NodeSets':>9} {'partitions':>11} {'steps':>6} {'seconds':>8}"]
    within = True
    for nodesets, size, partitions in ((100, 50, 25), (200, 50, 50), (200, 500, 50), (400, 50, 100)):
        seconds, found = measure(nodesets, size, partitions)
        lines.append(f"{nodesets * size:>9} {nodesets:>9} {partitions:>11} {len(found.steps):>6} {seconds:>8.3f}")
        if (nodesets, size) == (200, 50):
            within = seconds < TARGET
    lines.append(f"10,000 nodes in 200 NodeSets: {'within' if within else 'NOT within'} {TARGET} s")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
