"""`operations/run apply`: bring the running Slurm to new files by the least that suffices, and verify that it has them.

Where it cannot, the files of before are put back, and Slurm to them; the update fails with what was seen."""

from operations.act import Done, act, reconfigure
from operations.draining import release
from operations.prepare import empty, runs, silent
from operations.problem import Abandoned, Problem
from operations.progress import say, wait
from operations.push import SECONDS, push
from operations.record import Files, Record
from operations.rolling import release_stale, restart_nodes
from operations.verify import Interrupted, NotVerified, verify
from operations.wishes import Wishes
from slurm.changes import Plan
from slurm.hostlist import Hosts
from slurm.planning.cluster import Cluster as Declared

NAMES_SECONDS = 120
BACK_SECONDS = 120
REPLACEMENTS = 2  # of slurmctld in one update that are got over

# Nodes that slurmctld does not know yet and whose names lead nowhere: it would stall on each of them. Names come within
# a second or two, and looking from inside is quicker than asking again.
UNRESOLVED = r"""
for node in $(scontrol show hostnames "$1"); do echo "$node"; done | sort > /tmp/wanted
scontrol show nodes --oneliner | sed -nE 's/^NodeName=([^ ]+) .*/\1/p' | sort -u > /tmp/known
missing=$(comm -23 /tmp/wanted /tmp/known)
end=$(($(date +%s) + $3))
while :; do
    missing=$(for node in $missing; do getent hosts "$node.${node%-*}.$2" > /dev/null || echo "$node"; done)
    [ -n "$missing" ] && [ "$(date +%s)" -lt "$end" ] || break
    sleep 0.05
done
echo "$missing"
"""


def apply(wishes: Wishes) -> None:
    cluster, files = wishes.cluster, wishes.files
    record = Record.read(cluster)
    plan = record.plan(files)
    certain = record.certain
    record = record.open(cluster, files)
    try:
        _empty(wishes, record, plan)
        push(cluster, files)
        if wishes.nodes and (not certain or _grows(plan)):
            _wait_for_names(wishes, wishes.nodes - Declared.read(files).cloud_hosts)
        _bring(wishes, plan, certain)
    except Abandoned:
        raise
    except Problem as seen:
        # The engine has written the new files, and the next start of slurmctld would read them, whatever it was told.
        if record.applied is None:
            raise
        _roll_back(wishes, record, record.applied, seen)
    restart_nodes(wishes, plan, record.since)
    if not record.rekeys(wishes.key):  # else workers have to get their new key first, and `roll` releases them
        release(cluster)
    if not certain:
        release_stale(cluster)
    record.close(cluster, files, wishes.key)


def _empty(wishes: Wishes, record: Record, plan: Plan) -> None:
    """Most often `prepare` has seen to it. But after a failed update it does not run again with the same wishes, and
    what was drained serves again since. Who uses it only slurmctld can tell, so that nothing goes on without it."""
    first = [step for step in plan.steps if step.cls == "drain-first"]
    if first and not runs(wishes.cluster, SECONDS):
        raise Problem(silent(wishes.cluster, [step.object for step in first]))
    if first:
        empty(wishes, record)


def _grows(plan: Plan) -> bool:
    return any(step.key == "NodeName" and step.old is None for step in plan.steps)


def _bring(wishes: Wishes, plan: Plan, certain: bool) -> None:
    """Live updates where they are enough. If Slurm does not show what it should then, a reconfigure tells the rest."""
    done = act(wishes.cluster, plan, certain)
    if done.what == "nothing":
        say("Slurm has nothing to do for this change")
        return
    try:
        _settle(wishes, plan, done)
    except NotVerified as seen:
        if done.what != "live":
            raise
        say(f"the live update did not suffice ({str(seen).splitlines()[0]}): reconfiguring")
        _settle(wishes, plan, act(wishes.cluster, plan, certain=False))


def _settle(wishes: Wishes, plan: Plan, done: Done) -> None:
    """Verify; and tell it again to a slurmctld that was replaced before all had heard of it."""
    for _ in range(REPLACEMENTS):
        try:
            return verify(wishes, plan, done)
        except Interrupted as seen:
            say(f"{seen}: reconfiguring again")
            done = reconfigure(wishes.cluster)
    return verify(wishes, plan, done)


def _roll_back(wishes: Wishes, record: Record, files: Files, seen: Problem) -> None:
    """Raises in any case: the update has failed. The files come first: they are back also where nobody answers."""
    say(f"{seen}\nputting the files of before back")
    back = Wishes(wishes.cluster, files, wishes.nodes, wishes.domain, wishes.limits, wishes.max_unavailable)
    plan = record.plan(files)
    try:
        push(wishes.cluster, files, BACK_SECONDS)
        _settle(back, plan, act(wishes.cluster, plan, certain=False))
    except Problem as again:
        raise Problem(
            f"{seen}\nPutting the files of before back did not go well either: {again}\n"
            "Run `pulumi up` again: it goes on from what is there."
        ) from None
    release(wishes.cluster)
    record.close(wishes.cluster, files)
    raise Problem(f"{seen}\nThe files of before are back, and verified: Slurm runs as before this update.")


def _wait_for_names(wishes: Wishes, hosts: Hosts) -> None:
    def look() -> str | None:
        seen = wishes.cluster.controller(UNRESOLVED, str(hosts), wishes.domain, "3", seconds=60)
        missing = seen.stdout.split()
        if seen.returncode:
            return "an answer from the controller's pod"
        return f"the pods of {shown_nodes(missing)} to get their names" if missing else None

    wait(look, NAMES_SECONDS, f"Look at them with: kubectl -n {wishes.cluster.namespace} get pods -o wide", 0.2)


def shown_nodes(nodes: list[str]) -> str:
    return ", ".join(nodes[:8]) + (f" and {len(nodes) - 8} more" if len(nodes) > 8 else "")
