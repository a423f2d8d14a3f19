"""The dev stack on the lab: `pulumi up` and `pulumi destroy` with the lab's environment."""

import json
import os
import socket
from pathlib import Path

from lab import environment, paths, ssh
from lab.layout import Lab
from lab.problem import Problem
from lab.progress import say, step
from lab.run import attend, run

STACK = "dev"


def deploy(lab: Lab) -> None:
    env = environment.with_path(lab, os.environ["PATH"])
    run(["pulumi", "stack", "select", "--create", STACK], cwd=paths.CHECKOUT, env=env)
    if recover(lab):
        # What the killed run was creating may be there without being in the state: take it over instead of failing. The
        # state remembers that the provider was told so, until it is told otherwise: by the second run.
        _up(env | {"PULUMI_K8S_UPSERT_EXISTING_OBJECTS": "true", "PULUMI_K8S_ENABLE_PATCH_FORCE": "true"})
    _up(env)
    outputs = json.loads(run(["pulumi", "stack", "output", "--json", "--stack", STACK], cwd=paths.CHECKOUT, env=env))
    if outputs.get("ssh"):
        say(f"\nTo log in:\n\n  {ssh.command(lab, outputs['ssh'])}")


def _up(env: dict[str, str]) -> None:
    with step("pulumi up"):
        if attend(["pulumi", "up", "--yes", "--stack", STACK], cwd=paths.CHECKOUT, env=env):
            raise Problem("`pulumi up` failed, as shown above. The lab itself runs: `uv run lab status`.")


def recover(lab: Lab) -> bool:
    """Mend what a killed `pulumi` left: a lock that nobody holds, and operations that nobody knows the end of. True if
    there was something to mend.

    The lock of a process that lives, or of another machine, is never touched: then pulumi says who has it."""
    locks = lab.home / "state" / ".pulumi" / "locks"
    stale = [lock for lock in locks.rglob("*.json") if _stale(lock)]
    if not stale:
        return False
    say("  an earlier `pulumi` was killed: releasing its lock and reading the cluster again")
    env = environment.with_path(lab, os.environ["PATH"])
    for lock in stale:
        lock.unlink(missing_ok=True)
    refresh = ["pulumi", "refresh", "--yes", "--clear-pending-creates", "--stack", STACK]
    run(refresh, cwd=paths.CHECKOUT, env=env)
    return True


def _stale(lock: Path) -> bool:
    try:
        holder = json.loads(lock.read_text())
    except (FileNotFoundError, ValueError):
        return False
    return holder.get("hostname") == socket.gethostname() and not Path(f"/proc/{holder.get('pid')}").exists()


def destroy(lab: Lab) -> None:
    """Only for a cluster that stays: a lab's own cluster goes as a whole."""
    if not list((lab.home / "state" / ".pulumi" / "stacks").rglob(f"{STACK}.json")):
        return  # nothing was ever deployed
    recover(lab)
    env = environment.with_path(lab, os.environ["PATH"])
    run(["pulumi", "destroy", "--yes", "--stack", STACK], cwd=paths.CHECKOUT, env=env)
