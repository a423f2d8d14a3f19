"""A stack of a test's own on the lab: deployed by the real engine, and used through real ssh."""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from lab import paths
from lab.layout import Lab
from operations.kubectl import PATIENCE, Cluster

T = TypeVar("T")
Done = subprocess.CompletedProcess[str]
DEV = paths.CHECKOUT / "Pulumi.dev.yaml"


@dataclass
class Stack:
    """One stack, and the config file that it is deployed from: a copy, so that tests may change it."""

    lab: Lab
    name: str
    file: Path
    user: str = "researcher"
    code: Path = paths.CHECKOUT  # whose program deploys it

    @classmethod
    def create(cls, lab: Lab, name: str, folder: Path, **changes: Any) -> "Stack":
        """From the dev stack's file, with whole keys replaced, and what the file says of their parts."""
        stack = yaml.safe_load(DEV.read_text())
        kept = {
            key: value
            for key, value in stack["config"].items()
            if not key.startswith(tuple(f"slipway:{each}." for each in changes))
        }
        stack["config"] = kept | {f"slipway:{key}": value for key, value in changes.items()}
        file = folder / f"Pulumi.{name}.yaml"
        file.write_text(yaml.safe_dump(stack, sort_keys=False))
        argv = ["pulumi", "stack", "select", "--create", name]
        subprocess.run(argv, cwd=paths.CHECKOUT, check=True, capture_output=True)
        if name != "dev":  # a new stack gets a file in the checkout, which is nobody's
            (paths.CHECKOUT / f"Pulumi.{name}.yaml").unlink(missing_ok=True)
        return cls(lab, name, file)

    @property
    def config(self) -> dict[str, Any]:
        return yaml.safe_load(self.file.read_text())["config"]

    @property
    def namespace(self) -> str:
        return self.config["slipway:cluster"]["namespace"]

    @property
    def port(self) -> int:
        return self.config["slipway:login"]["service"]["nodePort"]

    def pulumi(self, *words: str, seconds: float = 600, **environment: str) -> Done:
        argv = ["pulumi", *words, "--stack", self.name, "--config-file", str(self.file), "--non-interactive"]
        env = {**os.environ, **environment}
        return subprocess.run(argv, cwd=self.code, capture_output=True, text=True, timeout=seconds, env=env)

    def up(self, *words: str) -> Done:
        """`pulumi up`, which must succeed."""
        done = self.pulumi("up", "--yes", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def set(self, key: str, value: str) -> None:
        """`pulumi config set KEY VALUE`."""
        argv = ["pulumi", "config", "set", key, value, "--stack", self.name, "--config-file", str(self.file)]
        subprocess.run(argv, cwd=paths.CHECKOUT, check=True, capture_output=True)

    def outputs(self) -> dict[str, Any]:
        argv = ["pulumi", "stack", "output", "--json", "--stack", self.name]
        return json.loads(subprocess.run(argv, cwd=paths.CHECKOUT, check=True, capture_output=True, text=True).stdout)

    def ssh_argv(self, *options: str, user: str | None = None) -> list[str]:
        return [
            "ssh",
            *("-i", os.environ["SLIPWAY_LAB_SSH_KEY"], "-p", str(self.port)),
            *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"),
            # Once a second: a NodePort is there some moments after its Service and the pods behind it.
            *("-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ConnectionAttempts=10"),
            *options,
            f"{user or self.user}@{self.lab.loopback}",
        ]

    def ssh(self, script: str, *options: str, user: str | None = None, stdin: str = "", seconds: float = 120) -> Done:
        """A script in a login shell, as a researcher would type it."""
        argv = [*self.ssh_argv(*options, user=user), f"bash -lc {shlex.quote(script)}"]
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=seconds)

    def run(self, script: str, *options: str, user: str | None = None, stdin: str = "", seconds: float = 120) -> str:
        """The same, which must succeed: what it printed, without the last newline."""
        done = self.ssh(script, *options, user=user, stdin=stdin, seconds=seconds)
        assert done.returncode == 0, f"{script}\n-> {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.removesuffix("\n")

    def kubectl(self, *words: str, seconds: float = 120) -> str:
        done = Cluster(self.namespace, patience=PATIENCE).kubectl(*words, seconds=seconds)
        assert done.returncode == 0, f"kubectl {' '.join(words)}:\n{done.stderr}{done.stdout}"
        return done.stdout

    def admin(self, *words: str) -> str:
        """A command in the controller's pod, as an administrator would run it."""
        return self.kubectl("exec", "controller-0", "-c", "slurmctld", "--", *words)

    def wait_for_job(self, job: str, *states: str, seconds: float = 120) -> dict[str, str]:
        """Until the job is in one of the states (COMPLETED if none is named): the fields that scontrol shows."""
        wanted = states or ("COMPLETED",)

        def look() -> dict[str, str] | None:
            shown = self.ssh(f"scontrol show job --oneliner {job}").stdout
            fields = dict(word.split("=", 1) for word in shown.split() if "=" in word)
            return fields if fields.get("JobState") in wanted else None

        return until(look, f"job {job} to be {' or '.join(wanted)}", seconds)

    def destroy(self) -> None:
        """Unless SLIPWAY_KEEP_STACKS is set, for whoever writes a test and does not wish to wait for a deploy again."""
        if os.environ.get("SLIPWAY_KEEP_STACKS"):
            return
        done = self.pulumi("destroy", "--yes")
        assert done.returncode == 0, done.stdout + done.stderr
        subprocess.run(
            ["pulumi", "stack", "rm", "--yes", "--preserve-config", self.name], cwd=paths.CHECKOUT, capture_output=True
        )


def until(look: Callable[[], T | None], what: str, seconds: float = 60) -> T:
    """The first answer that is not None or False."""
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.3)
