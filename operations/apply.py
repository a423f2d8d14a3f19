"""`operations/run apply`: bring the running Slurm to the files of the ConfigMap, and its pods to their templates.

It looks at what is there and does what is missing, so that running it again after a failure, or twice, does no harm."""

import os

from operations import rolling
from operations.kubectl import CONTROLLER, Cluster
from operations.problem import Problem
from operations.progress import say, wait
from slurm.hostlist import expand

CONTROLLER_SECONDS = 300
NAMES_SECONDS = 120
NODES_SECONDS = 300

# The digest of all files, as `components.configuration` computes it, and whether slurmctld answers.
LOOK = r"""
cd /etc/slurm && sha256sum $(ls | LC_ALL=C sort) | sha256sum | cut -d' ' -f1
scontrol ping 2>/dev/null | grep -q 'is UP' && echo up || echo down
"""
# Nodes that slurmctld does not know yet and whose names lead nowhere: it would stall on each of them.
UNRESOLVED = r"""
for node in $(scontrol show hostnames "$1"); do echo "$node"; done | sort > /tmp/wanted
sinfo --noheader --Node --format=%N | sort -u > /tmp/known
for node in $(comm -23 /tmp/wanted /tmp/known); do
    getent hosts "$node.${node%-*}.$2" > /dev/null || echo "$node"
done
"""
STATES = 'sinfo --noheader --Node --nodes="$1" --format="%N %T"'


def main() -> int:
    cluster = Cluster(os.environ["SLIPWAY_NAMESPACE"])
    nodes = os.environ["SLIPWAY_NODES"]
    _wait_for_files(cluster, os.environ["SLIPWAY_CONFIG"])
    if nodes:
        _wait_for_names(cluster, nodes, os.environ["SLIPWAY_DOMAIN"])
    # Also where slurmctld has started with these files: the workers still have the last ones.
    _reconfigure(cluster)
    rolling.restart_outdated(cluster, rolling.Drain.from_environment(os.environ))
    if nodes:
        _wait_for_nodes(cluster, nodes)
    return 0


def _wait_for_files(cluster: Cluster, wanted: str) -> None:
    """Until slurmctld answers and its pod sees the new files. The kubelet looks at once when the pod is touched."""
    touched = False

    def look() -> str | None:
        nonlocal touched
        seen = cluster.controller(LOOK, seconds=20)
        words = seen.stdout.split()
        if seen.returncode or len(words) != 2:
            said = seen.stderr.strip().splitlines()
            return f"the pod {CONTROLLER} to run" + (f" ({said[-1]})" if said else "")
        files, state = words
        if files == wanted:
            return None if state == "up" else "slurmctld to answer"
        if not touched:
            cluster.kubectl("annotate", "pod", CONTROLLER, f"slipway/config={wanted[:16]}", "--overwrite")
            touched = True
        return "its files to arrive"

    hint = f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}"
    wait(look, CONTROLLER_SECONDS, hint, 0.2)


def _wait_for_names(cluster: Cluster, nodes: str, domain: str) -> None:
    def look() -> str | None:
        seen = cluster.controller(UNRESOLVED, nodes, domain, seconds=60)
        missing = seen.stdout.split()
        if seen.returncode:
            return "an answer from the controller's pod"
        return f"the pods of {_shown(missing)} to get their names" if missing else None

    wait(look, NAMES_SECONDS, f"Look at them with: kubectl -n {cluster.namespace} get pods -o wide", 0.2)


def _reconfigure(cluster: Cluster) -> None:
    done = cluster.controller("scontrol reconfigure", seconds=120)
    if done.returncode:
        # It refuses in its own words, and goes on with the old files. A lost connection says nothing about either.
        raise Problem(
            f"`scontrol reconfigure` failed; run `pulumi up` again, or see slurmctld's log:\n{done.stderr.strip()}"
        )
    say("reconfigured")


def _wait_for_nodes(cluster: Cluster, nodes: str) -> None:
    """Until every node has registered. Down or drained by an administrator is registered, too."""
    expected = set(expand(nodes))

    def look() -> str | None:
        seen = cluster.controller(STATES, nodes, seconds=20)
        states = dict(line.split() for line in seen.stdout.splitlines() if len(line.split()) == 2)
        if seen.returncode or not states:
            return f"slurmctld to know {nodes}"
        silent = [node for node, state in states.items() if state.endswith("*") or state.startswith("unk")]
        missing = sorted({*silent, *(expected - states.keys())})
        return f"{_shown(missing)} to register" if missing else None

    wait(look, NODES_SECONDS, f"Look at them with: kubectl -n {cluster.namespace} get pods -o wide")
    say(f"nodes {nodes} serve")


def _shown(nodes: list[str]) -> str:
    return ", ".join(nodes[:8]) + (f" and {len(nodes) - 8} more" if len(nodes) > 8 else "")
