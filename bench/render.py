"""How long rendering takes, and how large the files get: `python bench/render.py`.

The target is half a second and 200 KB for 10,000 nodes in 200 NodeSets and 50 partitions, whatever the partitions are
made of. Twice the NodeSets should cost about twice as much, and six times the nodes in them no more. Ends with 1 if it
is not so.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.shapes import GROWTH, HEADINGS, TARGETS, Shape, cluster, verdict
from slurm.render import render

SECONDS, BYTES = 0.5, 200_000
ROUNDS = 20


def measure(shape: Shape) -> tuple[float, int]:
    """The best of several rounds, in seconds of CPU time, which others on the machine do not lengthen, and the size of
    all files in bytes."""
    settings = cluster(shape)
    best, size = float("inf"), 0
    for _ in range(ROUNDS):
        began = time.process_time()
        files = render(settings)
        best = min(best, time.process_time() - began)
        size = sum(len(text.encode()) for text in files.values())
    return best, size


def main() -> int:
    found = {shape: measure(shape) for shape in (*TARGETS, *GROWTH)}
    lines = [f"{HEADINGS} {'seconds':>8} {'bytes':>8}"]
    lines += [f"{shape} {seconds:>8.3f} {size:>8}" for shape, (seconds, size) in found.items()]
    good, said = verdict(
        {shape: seconds for shape, (seconds, _) in found.items()},
        lambda shape: found[shape][0] < SECONDS and found[shape][1] < BYTES,
    )
    sys.stdout.write("\n".join([*lines, *said]) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
