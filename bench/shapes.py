"""Clusters to measure with, and how what they cost may grow."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from config import Settings
from config.node_sets import Gpus, NodeSet
from config.partitions import ALL, Partition
from config.types import Duration


class Shape(NamedTuple):
    """`nodes` nodes in `node_sets` NodeSets. The first partition has all nodes; the others have ten NodeSets each or,
    with `everywhere`, all nodes too, as partitions have that say nothing about it."""

    node_sets: int = 200
    nodes: int = 10_000
    partitions: int = 50
    everywhere: bool = False
    dynamic: bool = False

    def __str__(self) -> str:
        kind = "dynamic" if self.dynamic else "static"
        of_each = "ALL" if self.everywhere else "10 sets"
        return f"{self.node_sets:>9} {kind:>8} {self.nodes:>7} {self.partitions:>11} {of_each:>8}"


HEADINGS = f"{'NodeSets':>9} {'kind':>8} {'nodes':>7} {'partitions':>11} {'of each':>8}"
TARGETS = tuple(
    Shape(everywhere=everywhere, dynamic=dynamic) for everywhere in (False, True) for dynamic in (False, True)
)
# What another cluster may cost, as a multiple of its target's time: twice as much for twice the NodeSets, and the same
# for six times the nodes in them. The rest is room for a machine that has more to do.
GROWTH: Mapping[Shape, tuple[Shape, float]] = {
    target._replace(**more): (target, most)
    for target in TARGETS
    for more, most in (({"node_sets": 400}, 3.0), ({"nodes": 60_000}, 2.0))
}


def cluster(shape: Shape, weight: int = 1, grown: int = 0) -> Settings:
    """A cluster in which every fourth NodeSet has GPUs, with `grown` nodes more in each NodeSet."""
    size = shape.nodes // shape.node_sets + grown
    sets = {
        f"set{at}-n": NodeSet(
            size=size,
            kind="dynamic" if shape.dynamic else "static",
            max_size=size if shape.dynamic else None,
            cpus=64,
            features=[f"rack{at % 20}"],
            weight=weight + at,
            gpus=Gpus(count=8) if at % 4 == 0 else None,
        )
        for at in range(shape.node_sets)
    }
    names = list(sets)
    queues = {
        f"p{at}": Partition(
            node_sets=[ALL] if shape.everywhere else [names[(at * 10 + step) % len(names)] for step in range(10)],
            max_time=Duration(weight * 3600),
        )
        for at in range(shape.partitions - 1)
    }
    return Settings(worker=NodeSet(size=0), node_sets=sets, partitions={"main": Partition(default=True), **queues})


def verdict(seconds: Mapping[Shape, float], within: Callable[[Shape], bool]) -> tuple[bool, list[str]]:
    """Whether all targets are met and nothing grows faster than it may, and what does not, in words."""
    missed = [f"NOT within the limits: {shape}" for shape in TARGETS if not within(shape)]
    missed += [
        f"grows too fast, {seconds[shape] / seconds[target]:.1f} times the target: {shape}"
        for shape, (target, most) in GROWTH.items()
        if seconds[shape] > seconds[target] * most
    ]
    return not missed, missed or ["within the limits; the cost grows with NodeSets and not with nodes"]
