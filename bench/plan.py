"""How long a plan takes: `python bench/plan.py`.

Two clusters of 10,000 nodes in 200 NodeSets and 50 partitions, both as they are rendered; between them every NodeSet
grows and every weight and time limit changes. The target is half a second. The same with six times the nodes in each
NodeSet should cost no more, and with half and twice the NodeSets half and twice as much.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.render import cluster
from slurm.changes import Plan, plan
from slurm.render import render

TARGET = 0.5
ROUNDS = 5


def measure(node_sets: int, nodes: int, partitions: int) -> tuple[float, Plan]:
    """The best of several rounds, in seconds."""
    old = render(cluster(node_sets, nodes, partitions))
    new = render(cluster(node_sets, nodes, partitions, weight=2, grown=2))
    best, found = float("inf"), Plan()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        found = plan(old, new)
        best = min(best, time.perf_counter() - began)
    return best, found


def main() -> int:
    lines = [f"{'NodeSets':>9} {'nodes':>7} {'partitions':>11} {'steps':>6} {'seconds':>8}"]
    within = True
    for each in ((100, 10_000, 50), (200, 10_000, 50), (200, 60_000, 50), (400, 10_000, 50)):
        seconds, found = measure(*each)
        node_sets, nodes, partitions = each
        lines.append(f"{node_sets:>9} {nodes:>7} {partitions:>11} {len(found.steps):>6} {seconds:>8.3f}")
        if each == (200, 10_000, 50):
            within = seconds < TARGET
    lines.append(f"10,000 nodes in 200 NodeSets: {'within' if within else 'NOT within'} {TARGET} s")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
