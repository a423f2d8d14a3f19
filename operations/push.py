"""Bring files into the controller's pod: through the ConfigMap, and at once."""

import json
import time
from collections.abc import Mapping

from operations.digest import DIGEST, digest
from operations.kubectl import CONFIG_MAP, CONTROLLER, CONTROLLERS, MANAGER, Cluster, last_line
from operations.problem import Problem
from operations.progress import wait

SECONDS = 300

# The files arrive within a second after the pod was touched; looking from inside is quicker than asking again.
LOOK = rf"""
n=0
until [ "$({DIGEST})" = "$1" ]; do
    n=$((n + 1))
    [ $n -lt "$2" ] || {{ echo old; exit 0; }}
    sleep 0.05
done
scontrol ping 2>/dev/null | grep -q 'is UP' && echo up || echo down
"""
OLD = 3
# One that waits to take over has read its files at its start, and would serve with those.
ARRIVED = rf"""
n=0
until [ "$({DIGEST})" = "$1" ]; do n=$((n + 1)); [ $n -lt 60 ] || exit {OLD}; sleep 0.05; done
kill -HUP 1
"""


def push(cluster: Cluster, files: Mapping[str, str], seconds: float = SECONDS) -> None:
    """Until the pod sees these files and slurmctld answers."""
    _write(cluster, files)
    wanted = digest(files)
    touched: list[str] = []

    def look() -> str | None:
        if not touched:
            # The kubelet refreshes the volumes of a pod that changes at once, and all others within a minute or two.
            mark = f"slipway/config={wanted[:12]}-{time.time():.0f}"
            said = cluster.kubectl("annotate", "pods", "--selector", CONTROLLERS, mark, "--overwrite").stdout
            touched[:] = sorted(line.split()[0].removeprefix("pod/") for line in said.splitlines())
        # A backup that is not there has them when it comes.
        behind = [name for name in touched[1:] if cluster.inside(name, ARRIVED, wanted, seconds=30).returncode == OLD]
        if behind:
            return f"the files to arrive in {behind[0]}"
        seen = cluster.controller(LOOK, wanted, "60", seconds=30)
        if seen.returncode or not seen.stdout.strip():
            touched.clear()  # it may be another pod by the next time
            return f"the pod {CONTROLLER} to run ({last_line(seen)})"
        return {"old": "its files to arrive", "down": "slurmctld to answer", "up": None}[seen.stdout.split()[-1]]

    wait(look, seconds, f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}", 0.2)


def _write(cluster: Cluster, files: Mapping[str, str]) -> None:
    """The engine has written them already, unless a failed update has put others in their place since."""
    shown = cluster.kubectl("get", "configmap", CONFIG_MAP, "--output", "json")
    if shown.returncode:
        raise Problem(f"Kubernetes does not tell its ConfigMap {CONFIG_MAP}: {last_line(shown)}")
    if json.loads(shown.stdout).get("data", {}) != files:
        # As a whole: an apply would leave files that somebody else has written.
        patch = json.dumps([{"op": "replace", "path": "/data", "value": dict(files)}])
        words = [
            "patch",
            "configmap",
            CONFIG_MAP,
            "--type=json",
            "--patch-file=/dev/stdin",
            f"--field-manager={MANAGER}",
        ]
        written = cluster.kubectl(*words, stdin=patch)
        if written.returncode:
            raise Problem(f"Kubernetes does not take ConfigMap {CONFIG_MAP}: {last_line(written)}")
