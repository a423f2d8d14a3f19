"""What clusters of other sizes cost: `lab --name bench run -- python bench/growth.py [--pictures FOLDER]`.

From 10 to 10,000 nodes in ten NodeSets, and a thousand nodes in 1 to 100 NodeSets: rendering the files, planning a
change of every NodeSet and partition, a first preview without a cluster, and the memory and the reconfigure of a real
slurmctld. With `--pictures`, the curves are written there as SVG.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from daemon import measure
from plot import plot
from sessions import dev

import bench.plan
import bench.render
from bench.shapes import Shape
from lab.plugins.install import install
from operations.kubectl import Cluster
from tests.engine.policies.stack import Stack as Preview

NODES = tuple(Shape(node_sets=10, nodes=nodes, partitions=10) for nodes in (10, 100, 1000, 10_000))
NODE_SETS = tuple(Shape(node_sets=sets, nodes=1000, partitions=10) for sets in (1, 10, 100))


class Cost(NamedTuple):
    """Seconds of CPU, seconds of CPU, seconds, seconds, MB and MB."""

    render: float
    plan: float
    preview: float
    reconfigure: float
    memory: float
    peak: float


COLUMNS = {
    "render": "render, s",
    "plan": "plan, s",
    "preview": "preview, s",
    "reconfigure": "reconfigure, s",
    "memory": "slurmctld, MB",
    "peak": "and at most",
}


def previewed(stack: Preview, shape: Shape) -> float:
    """Of the dev stack, with these NodeSets instead of its own."""
    each = {"size": shape.nodes // shape.node_sets, "cpus": 64, "memory": "64Gi"}
    keys: dict[str, Any] = {
        "worker": {"size": 0},
        "nodeSets": {f"set{at}": each for at in range(shape.node_sets)},
        "partitions": {"main": {"nodeSets": ["ALL"], "default": True}},
    }
    stack.checked(**keys)
    began = time.perf_counter()
    stack.preview()
    return time.perf_counter() - began


def middle(what: Callable[[], float], runs: int) -> float:
    return statistics.median(what() for _ in range(runs))


def cost(shape: Shape, cluster: Cluster, preview: Preview, runs: int) -> Cost:
    daemons = [measure(cluster, shape.nodes, shape.node_sets) for _ in range(runs)]
    found = Cost(
        bench.render.measure(shape)[0],
        bench.plan.measure(shape)[0],
        middle(lambda: previewed(preview, shape), runs),
        statistics.median(each.reconfigure for each in daemons),
        statistics.median(each.memory for each in daemons),
        statistics.median(each.peak for each in daemons),
    )
    sys.stderr.write(f"{shape}: {found}\n")
    return found


def table(found: dict[Shape, Cost]) -> list[str]:
    lines = [f"{'nodes':>6} {'NodeSets':>9} " + " ".join(f"{each:>15}" for each in COLUMNS.values())]
    for shape, costs in found.items():
        lines.append(f"{shape.nodes:>6} {shape.node_sets:>9} " + " ".join(f"{value:>15.3f}" for value in costs))
    return lines


def pictures(found: dict[Shape, Cost]) -> dict[str, str]:
    """By the names of their files."""
    made: dict[str, str] = {}
    for across, shapes in {"nodes": NODES, "node_sets": NODE_SETS}.items():
        what = "nodes, in ten NodeSets" if across == "nodes" else "NodeSets, of a thousand nodes"
        for kind, (title, names) in {
            "time": ("Seconds", ("render", "plan", "preview", "reconfigure")),
            "memory": ("Memory of slurmctld, MB", ("memory", "peak")),
        }.items():
            lines = {
                name: [(getattr(shape, across), getattr(found[shape], name)) for shape in shapes] for name in names
            }
            made[f"growth-{across.replace('_', '-')}-{kind}.svg"] = plot(f"{title} by {what}", what, "", lines)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="of each thing but the first two (default: 3)")
    parser.add_argument("--pictures", type=Path, help="a folder for the curves")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stack = dev(folder)
        stack.up("--skip-preview")
        preview = Preview(Path(folder) / "preview")
        install(preview.home, Path(sys.executable))
        preview.create_stack()
        found = {
            shape: cost(shape, Cluster(stack.namespace), preview, args.runs)
            for shape in dict.fromkeys((*NODES, *NODE_SETS))
        }
    sys.stdout.write("\n".join(table(found)) + "\n")
    for name, picture in pictures(found).items() if args.pictures else ():
        (args.pictures / name).write_text(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
