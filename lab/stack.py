"""The dev stack on the lab: `pulumi up` and `pulumi destroy` with the lab's environment."""

import os
import subprocess

from lab import environment, paths
from lab.layout import Lab
from lab.problem import Problem
from lab.progress import step
from lab.run import run

STACK = "dev"


def deploy(lab: Lab) -> None:
    env = environment.with_path(lab, os.environ["PATH"])
    run(["pulumi", "stack", "select", "--create", STACK], cwd=paths.CHECKOUT, env=env)
    with step("pulumi up"):
        done = subprocess.run(
            ["pulumi", "up", "--yes", "--stack", STACK, "--suppress-permalink=true"],
            cwd=paths.CHECKOUT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
        )
    if done.returncode:
        raise Problem("`pulumi up` failed, as shown above. The lab itself runs: `uv run lab status`.")


def destroy(lab: Lab) -> None:
    """Only for a cluster that stays: a lab's own cluster goes as a whole."""
    env = environment.with_path(lab, os.environ["PATH"])
    run(["pulumi", "destroy", "--yes", "--stack", STACK], cwd=paths.CHECKOUT, env=env)
