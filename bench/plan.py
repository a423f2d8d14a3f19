"""How long a plan takes: `python bench/plan.py`.

Two clusters of 10,000 nodes in 200 NodeSets and 50 partitions, both as they are rendered; between them every NodeSet
grows and every weight and time limit changes. The target is half a second, whatever the partitions are made of. The
same with six times the nodes in each NodeSet should cost no more, and with twice the NodeSets twice as much. Ends with
1 if it is not so.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.shapes import GROWTH, HEADINGS, TARGETS, Shape, cluster, verdict
from slurm.changes import plan
from slurm.render import render

SECONDS = 0.5
ROUNDS = 5


def measure(shape: Shape) -> tuple[float, int]:
    """The best of several rounds, in seconds of CPU time, which others on the machine do not lengthen, and the number
    of steps."""
    old, new = render(cluster(shape)), render(cluster(shape, weight=2, grown=2))
    best, steps = float("inf"), 0
    for _ in range(ROUNDS):
        began = time.process_time()
        steps = len(plan(old, new).steps)
        best = min(best, time.process_time() - began)
    return best, steps


def main() -> int:
    found = {shape: measure(shape) for shape in (*TARGETS, *GROWTH)}
    lines = [f"{HEADINGS} {'steps':>6} {'seconds':>8}"]
    lines += [f"{shape} {steps:>6} {seconds:>8.3f}" for shape, (seconds, steps) in found.items()]
    seconds = {shape: spent for shape, (spent, _) in found.items()}
    good, said = verdict(seconds, lambda shape: seconds[shape] < SECONDS)
    sys.stdout.write("\n".join([*lines, *said]) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
