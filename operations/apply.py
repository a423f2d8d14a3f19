"""`operations/run apply`: bring the running Slurm to the files of the ConfigMap, and wait until its nodes serve.

It looks at what is there and does what is missing, so that running it again after a failure, or twice, does no harm."""

import os
import sys
import time

from operations.kubectl import CONTROLLER, Cluster
from operations.problem import Problem

CONTROLLER_SECONDS = 300
NODES_SECONDS = 300

# The digest of all files, as `components.configuration` computes it, and whether slurmctld answers.
LOOK = r"""
cd /etc/slurm && sha256sum $(ls | LC_ALL=C sort) | sha256sum | cut -d' ' -f1
scontrol ping 2>/dev/null | grep -q 'is UP' && echo up || echo down
"""


def main() -> int:
    cluster = Cluster(os.environ["SLIPWAY_NAMESPACE"])
    wanted, nodes = os.environ["SLIPWAY_CONFIG"], os.environ["SLIPWAY_NODES"]
    _wait_for_files(cluster, wanted)
    # Also where slurmctld has started with these files: the workers have still the last ones.
    _reconfigure(cluster)
    if nodes:
        _wait_for_nodes(cluster, nodes)
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _wait_for_files(cluster: Cluster, wanted: str) -> None:
    """Until slurmctld answers and its pod sees the new files. The kubelet looks at once when the pod is touched."""
    deadline = time.monotonic() + CONTROLLER_SECONDS
    touched = False
    said = ""
    while True:
        seen = cluster.controller(LOOK, seconds=20)
        words = seen.stdout.split() if seen.returncode == 0 else []
        if len(words) == 2:
            files, state = words
            if files == wanted and state == "up":
                return
            if files != wanted and not touched:
                cluster.kubectl("annotate", "pod", CONTROLLER, f"slipway/config={wanted[:16]}", "--overwrite")
                touched = True
            now = "its files to arrive" if files != wanted else "slurmctld to answer"
        else:
            now = f"the pod {CONTROLLER} to run"
        if now != said:
            _say(f"waiting for {now}")
            said = now
        if time.monotonic() > deadline:
            raise Problem(
                f"waited {CONTROLLER_SECONDS} s for {now}.\n{seen.stderr.strip()}\n"
                f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}"
            )
        time.sleep(0.2)


def _reconfigure(cluster: Cluster) -> None:
    done = cluster.controller("scontrol reconfigure", seconds=120)
    if done.returncode:
        raise Problem(f"slurmctld refuses the configuration and goes on with the old one:\n{done.stderr.strip()}")
    _say("reconfigured")


def _wait_for_nodes(cluster: Cluster, nodes: str) -> None:
    """Until every node has registered. Down or drained by an administrator is registered, too."""
    deadline = time.monotonic() + NODES_SECONDS
    said: list[str] = []
    while True:
        seen = cluster.controller('sinfo --noheader --Node --nodes="$1" --format="%N %T"', nodes, seconds=20)
        states = dict(line.split() for line in seen.stdout.splitlines() if len(line.split()) == 2)
        missing = sorted(node for node, state in states.items() if state.endswith("*") or state.startswith("unk"))
        if seen.returncode == 0 and states and not missing:
            _say(f"{len(states)} nodes serve")
            return
        if missing != said:
            _say(f"waiting for {', '.join(missing) or nodes} to register")
            said = missing
        if time.monotonic() > deadline:
            raise Problem(
                f"after {NODES_SECONDS} s these nodes have not registered: {', '.join(missing) or nodes}\n"
                f"{seen.stderr.strip()}\nLook at them with: kubectl -n {cluster.namespace} get pods -o wide"
            )
        time.sleep(0.3)
