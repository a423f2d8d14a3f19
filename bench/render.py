"""How long rendering takes, and how large the files get: with the number of nodes, and with the number of NodeSets.

python bench/render.py
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from config import Settings
from config.node_sets import NodeSet
from config.partitions import Partition
from slurm.render import render

REPEAT = 5


def cluster(node_sets: int, nodes: int, partitions: int) -> Settings:
    """`nodes` nodes in `node_sets` NodeSets, with partitions over ten of them each."""
    sets = {f"set{number}-n": NodeSet(size=nodes // node_sets, cpus=64, features=["x"]) for number in range(node_sets)}
    names = list(sets)
    queues = {
        f"p{number}": Partition(
            node_sets=[names[(number * 10 + step) % len(names)] for step in range(min(10, len(names)))]
        )
        for number in range(partitions)
    }
    return Settings(worker=NodeSet(size=0), node_sets=sets, partitions={"main": Partition(default=True), **queues})


def measure(node_sets: int, nodes: int, partitions: int) -> tuple[float, int]:
    """The best of a few runs, in seconds, and the size of all files in bytes."""
    settings = cluster(node_sets, nodes, partitions)
    times = []
    for _ in range(REPEAT):
        begin = time.perf_counter()
        render(settings)
        times.append(time.perf_counter() - begin)
    return min(times), sum(len(text) for text in render(settings).values())


def main() -> None:
    print(f"{'NodeSets':>8} {'nodes':>7} {'partitions':>10} {'ms':>8} {'KB':>8}")  # noqa: T201
    for node_sets, nodes, partitions in (
        (1, 10, 1),
        (10, 1_000, 10),
        (100, 1_000, 50),
        (100, 10_000, 50),
        (200, 10_000, 50),
        (200, 60_000, 50),
        (400, 10_000, 50),
    ):
        seconds, size = measure(node_sets, nodes, partitions)
        print(f"{node_sets:>8} {nodes:>7} {partitions:>10} {seconds * 1000:>8.1f} {size / 1024:>8.1f}")  # noqa: T201


if __name__ == "__main__":
    main()
