"""The dev stack on the lab: `pulumi up` and `pulumi destroy` with the lab's environment."""

import json
import os

from lab import environment, paths, ssh
from lab.layout import Lab
from lab.problem import Problem
from lab.progress import say, step
from lab.run import attend, run

STACK = "dev"


def deploy(lab: Lab) -> None:
    env = environment.with_path(lab, os.environ["PATH"])
    run(["pulumi", "stack", "select", "--create", STACK], cwd=paths.CHECKOUT, env=env)
    with step("pulumi up"):
        # Through our own command line, which mends what a killed run has left.
        if attend(["slipway", "up", "--stack", STACK, "--yes"], cwd=paths.CHECKOUT, env=env):
            raise Problem("`pulumi up` failed, as shown above. The lab itself runs: `uv run lab status`.")
    outputs = json.loads(run(["pulumi", "stack", "output", "--json", "--stack", STACK], cwd=paths.CHECKOUT, env=env))
    if outputs.get("ssh"):
        say(f"\nTo log in:\n\n  {ssh.command(lab, outputs['ssh'])}")


def destroy(lab: Lab) -> None:
    """Only for a cluster that stays: a lab's own cluster goes as a whole."""
    if not list((lab.home / "state" / ".pulumi" / "stacks").rglob(f"{STACK}.json")):
        return  # nothing was ever deployed
    env = environment.with_path(lab, os.environ["PATH"])
    run(["slipway", "recover", "--stack", STACK], cwd=paths.CHECKOUT, env=env)
    run(["pulumi", "destroy", "--yes", "--stack", STACK], cwd=paths.CHECKOUT, env=env)
