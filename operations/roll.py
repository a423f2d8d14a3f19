"""`operations/run roll`: bring the worker pods to their templates, and see that every node serves."""

from operations.apply import shown_nodes
from operations.draining import HEALTH, release
from operations.kubectl import CONTROLLER, CONTROLLERS, Cluster, name_of, on_lost_machine
from operations.nodes import nodes
from operations.progress import say, wait
from operations.rolling import (
    NODE_SET,
    outdated,
    ready,
    release_stale,
    restart_outdated,
    revisions,
)
from operations.wishes import Wishes
from slurm import places
from slurm.hostlist import compress
from slurm.planning.live import DRAIN_REASON

NODES_SECONDS = 300
SETTLE = f'{places.POWER} settle "$@"'


def roll(wishes: Wishes) -> None:
    _wait_for_controller(wishes.cluster)
    if wishes.autoscaled:
        # Slurm asks for pods when a node starts or stops. What `pulumi up` has changed in between is settled here.
        say(wishes.cluster.slurm(SETTLE, *wishes.autoscaled, seconds=120).strip() or "autoscaled NodeSets are settled")
    restart_outdated(wishes)
    if wishes.nodes:
        # Where nobody looks after nodes any more, nobody else would take these drains away.
        release(wishes.cluster, reason=(DRAIN_REASON,) if wishes.health else (DRAIN_REASON, *HEALTH))
        release_stale(wishes.cluster)
        _wait_for_nodes(wishes)


def _wait_for_controller(cluster: Cluster) -> None:
    """slurmctld comes before slurmd, as Slurm asks for when its version changes: its pod may only now be replaced."""

    [revision] = revisions(cluster, CONTROLLERS).values()

    def look() -> str | None:
        pods = cluster.list("pods", CONTROLLERS)
        here = [pod for pod in pods if not on_lost_machine(pod)]
        late = [name_of(pod) for pod in here if outdated(pod, revision) or not ready(pod)]
        return None if here and not late else f"{compress(late) or CONTROLLER} to run as its template says"

    wait(look, NODES_SECONDS, f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}")


def _wait_for_nodes(wishes: Wishes) -> None:
    """Until every node has registered, but for those on machines that are gone. One that an administrator has drained,
    or that is down for a reason of its own, has registered too."""
    lost: list[str] = []

    def look() -> str | None:
        known = nodes(wishes.cluster)
        silent = [
            name
            for name in wishes.nodes
            if name not in known
            # One that Slurm starts and stops is waited for by the jobs that want it.
            or ("CLOUD" not in known[name].states and known[name].states & {"NOT_RESPONDING", "UNKNOWN"})
        ]
        lost[:] = _on_lost_machines(wishes.cluster) if silent else []
        missing = [name for name in silent if name not in lost]
        return f"{shown_nodes(missing)} to register" if missing else None

    wait(look, NODES_SECONDS, f"Look at them with: kubectl -n {wishes.cluster.namespace} get pods -o wide")
    if lost:
        say(f"not waited for, as their machines do not answer: {shown_nodes(lost)}")
    say(f"nodes {wishes.nodes} serve" if not lost else "all other nodes serve")


def _on_lost_machines(cluster: Cluster) -> list[str]:
    return [name_of(pod) for pod in cluster.list("pods", NODE_SET) if on_lost_machine(pod)]
