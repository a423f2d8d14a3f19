"""Do the least that brings Slurm to files that its controller has already: nothing, live updates, or a reconfigure."""

from dataclasses import dataclass
from typing import Literal

from operations.kubectl import CONTROLLER, CONTROLLERS, Cluster, last_line, name_of, on_lost_machine
from operations.progress import say, wait
from slurm.changes import Plan

RESTART_SECONDS = 180
RECONFIGURE_SECONDS = 180

# One after the other; the first that Slurm refuses ends it.
LIVE = "set -e\n{}\n"
# The time first: daemons that have started since then have read the new files. What a failed reconfigure says is kept,
# since "timed out" may mean that it was done all the same: only the daemons themselves can tell.
RECONFIGURE = "date +%Y-%m-%dT%H:%M:%S; scontrol reconfigure 2>&1 || true"
UNHEARD = "Unable to contact slurm controller"
PING = "scontrol ping | grep -q 'is UP'"


@dataclass(frozen=True)
class Done:
    """What was done; for a reconfigure, when by the controller's clock, and what Slurm said to it."""

    what: Literal["nothing", "live", "reconfigure"]
    since: str = ""
    said: str = ""


def act(cluster: Cluster, plan: Plan, certain: bool) -> Done:
    """Where it is not certain what Slurm runs, a reconfigure makes it so."""
    # slurmdbd is by now what its file says: its pod was replaced before slurmctld hears of anything.
    classes = {cls for step in plan.steps for cls in (step.cls, *step.also)} - {"restart-slurmdbd"}
    if certain and not classes:
        return Done("nothing")
    if certain and classes == {"live"}:
        return _live(cluster, plan)
    if "restart-controller" in classes:
        restart(cluster)
    return reconfigure(cluster)


def _live(cluster: Cluster, plan: Plan) -> Done:
    commands = list(dict.fromkeys(command for step in plan.steps for command in step.commands))
    for command in commands:
        say(command)
    done = cluster.controller(LIVE.format("\n".join(commands)))
    return Done("live", said=last_line(done) if done.returncode else "")


def reconfigure(cluster: Cluster) -> Done:
    """Told to a slurmctld that hears it: one that is being replaced is waited for. It may be told twice."""
    heard: list[str] = []

    def look() -> str | None:
        done = cluster.controller(RECONFIGURE, seconds=RECONFIGURE_SECONDS)
        if done.returncode or UNHEARD in done.stdout:
            return f"slurmctld to hear of it ({last_line(done)})"
        heard[:] = done.stdout.splitlines()
        return None

    wait(look, RESTART_SECONDS, f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}", 0.5)
    since, *said = heard
    say("reconfigured")
    return Done("reconfigure", since, "\n".join(said))


def restart(cluster: Cluster) -> None:
    """A new slurmctld. Its state is on its volume; jobs do not notice, and commands wait for it. Its backup goes first:
    it has nothing to do, and should not take over meanwhile."""
    say("restarting slurmctld")
    before = _identities(cluster)
    for name in sorted(before, reverse=True):
        cluster.kubectl("delete", "pod", name, "--wait=true", "--timeout=150s", seconds=170)

    def look() -> str | None:
        now = _identities(cluster)
        old = [name for name in before or [CONTROLLER] if now.get(name) in (None, before.get(name))]
        if old:
            return f"the pod {old[0]} to be replaced"
        return None if cluster.controller(PING, seconds=20).returncode == 0 else "slurmctld to answer"

    wait(look, RESTART_SECONDS, f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}", 0.2)


def _identities(cluster: Cluster) -> dict[str, str]:
    """What tells a controller's pod from the next one of its name. Who is on a machine that is gone cannot be told, and
    starts anew with it."""
    there = [pod for pod in cluster.list("pods", CONTROLLERS) if not on_lost_machine(pod)]
    return {name_of(pod): pod["metadata"]["uid"] for pod in there}
