"""How long rendering takes, and how large the files get: `python bench/render.py`.

The target is half a second and 200 KB for 10,000 nodes in 200 NodeSets and 50 partitions. Twice the NodeSets should
cost about twice as much, and six times the nodes in them no more. Ends with 1 if it is not so.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from config import Settings
from config.node_sets import Gpus, NodeSet
from config.partitions import Partition
from config.types import Duration
from slurm.render import render

SECONDS, BYTES = 0.5, 200_000
ROUNDS = 20
TARGET = (200, 10_000, 50)
CLUSTERS = ((100, 10_000, 50), TARGET, (400, 10_000, 50), (200, 1_000, 50), (200, 60_000, 50), (200, 10_000, 100))
# What another cluster may cost, as a multiple of the target's time, with room for a machine that has more to do.
GROWTH = {(400, 10_000, 50): 3.0, (200, 60_000, 50): 2.0}


def cluster(node_sets: int, nodes: int, partitions: int, weight: int = 1, grown: int = 0) -> Settings:
    """`nodes` nodes in `node_sets` NodeSets, of which every fourth has GPUs, and `grown` nodes more in each of them;
    the first partition has all nodes, and the others ten NodeSets each."""
    sets = {
        f"set{at}-n": NodeSet(
            size=nodes // node_sets + grown,
            cpus=64,
            features=[f"rack{at % 20}"],
            weight=weight + at,
            gpus=Gpus(count=8) if at % 4 == 0 else None,
        )
        for at in range(node_sets)
    }
    names = list(sets)
    queues = {
        f"p{at}": Partition(
            node_sets=[names[(at * 10 + step) % len(names)] for step in range(min(10, len(names)))],
            max_time=Duration(weight * 3600),
        )
        for at in range(partitions - 1)
    }
    return Settings(worker=NodeSet(size=0), node_sets=sets, partitions={"main": Partition(default=True), **queues})


def measure(node_sets: int, nodes: int, partitions: int) -> tuple[float, int]:
    """The best of several rounds, in seconds, and the size of all files in bytes."""
    settings = cluster(node_sets, nodes, partitions)
    best, size = float("inf"), 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        files = render(settings)
        best = min(best, time.perf_counter() - began)
        size = sum(len(text.encode()) for text in files.values())
    return best, size


def main() -> int:
    found = {each: measure(*each) for each in CLUSTERS}
    lines = [f"{'NodeSets':>9} {'nodes':>7} {'partitions':>11} {'seconds':>8} {'ms/NodeSet':>11} {'bytes':>8}"]
    for (node_sets, nodes, partitions), (seconds, size) in found.items():
        each = seconds * 1000 / node_sets
        lines.append(f"{node_sets:>9} {nodes:>7} {partitions:>11} {seconds:>8.3f} {each:>11.3f} {size:>8}")
    seconds, size = found[TARGET]
    within = seconds < SECONDS and size < BYTES
    linear = all(found[each][0] < seconds * most for each, most in GROWTH.items())
    lines.append(
        f"10,000 nodes in 200 NodeSets and 50 partitions: {'within' if within else 'NOT within'} {SECONDS} s and "
        f"{BYTES:,} bytes; the cost {'grows' if linear else 'does NOT grow'} with NodeSets and not with nodes"
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if within and linear else 1


if __name__ == "__main__":
    sys.exit(main())
