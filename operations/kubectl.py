"""The cluster as kubectl reaches it, with the same kubeconfig that the engine uses."""

import json
import re
import subprocess
import time
from dataclasses import dataclass
from typing import Any

from operations.problem import Problem, Unanswered

CONTROLLER = "controller-0"
CONFIG_MAP = "slurm-config"
MANAGER = "slipway"

PATIENCE = 60.0
PAUSE = 1.0

# What is said where nobody heard the question: Kubernetes, the pod, or slurmctld in it.
_SILENT = re.compile(
    r"connection refused|was refused|unable to connect|no such host|unable to contact slurm|socket timed out|"
    r"i/o timeout|no answer within|error dialing|unable to upgrade|unexpected eof|connection (reset|lost)|"
    r"tls handshake|pods? .*not found|container not (found|created|running)|does not have a host assigned|"
    r"exit code 137",
    re.IGNORECASE,
)

# Before anything was asked: whoever says so may be asked again whatever the question.
_REFUSED = re.compile(
    r"connection to the server .* was refused|connect: connection refused|no route to host|tls handshake timeout|"
    r"dial tcp .*: i/o timeout",
    re.IGNORECASE,
)

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Cluster:
    """One namespace of one Kubernetes cluster. `patience` is for how many seconds a question is asked again where
    nobody answers: an update gets over a controller that is being replaced, and a person wants to know it at once."""

    namespace: str
    patience: float = 0.0

    def kubectl(self, *words: str, stdin: str | None = None, seconds: float = 60) -> Done:
        """Never raises for what kubectl answers: whoever asks knows what an answer means. An API server that takes no
        connections has heard nothing, so that it may be asked again; but for a deletion, which may have been heard
        before the connection was lost on which its end is awaited."""
        deadline = time.monotonic() + self.patience
        while True:
            done = self._once(*words, stdin=stdin, seconds=seconds)
            refused = done.returncode and _REFUSED.search(last_line(done)) and words[0] != "delete"
            if not refused or time.monotonic() > deadline:
                return done
            time.sleep(PAUSE)

    def _once(self, *words: str, stdin: str | None, seconds: float) -> Done:
        argv = ["kubectl", "--namespace", self.namespace, *words]
        try:
            return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=seconds)
        except FileNotFoundError:
            raise Problem("kubectl is not on PATH: install it, or run inside the environment of `lab env`.") from None
        except subprocess.TimeoutExpired:
            return Done(argv, 124, "", f"no answer within {seconds:.0f} s")

    def controller(self, script: str, *words: str, seconds: float = 60, container: str = "slurmctld") -> Done:
        """A shell script in the controller's pod."""
        argv = ["exec", "-i", CONTROLLER, "-c", container, "--", "sh", "-s", *words]
        return self.kubectl(*argv, stdin=script, seconds=seconds)

    def slurm(self, script: str, *words: str, seconds: float = 60, again: bool = True) -> str:
        """What a script in the controller's pod prints; a Problem with its own words if it fails. Without `again` it is
        for scripts that may have been heard, and must not be heard twice."""
        done = self.controller(script, *words, seconds=seconds)
        deadline = time.monotonic() + self.patience
        while again and silent(done) and time.monotonic() < deadline:
            time.sleep(PAUSE)
            done = self.controller(script, *words, seconds=seconds)
        if done.returncode:
            kind = Unanswered if silent(done) else Problem
            raise kind(f"slurmctld's pod {CONTROLLER} does not answer: {last_line(done)}")
        return done.stdout

    def list(self, kind: str, selector: str = "") -> list[dict[str, Any]]:
        """Objects of a kind, as Kubernetes has them."""
        words = ["--selector", selector] if selector else []
        shown = self.kubectl("get", kind, *words, "--output", "json")
        if shown.returncode:
            raise Problem(f"Kubernetes does not tell its {kind}: {last_line(shown)}")
        return json.loads(shown.stdout)["items"]

    def config_map(self, name: str, data: dict[str, str]) -> None:
        """Write a ConfigMap as a whole, whoever else has written to it."""
        wanted = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace},
            "data": data,
        }
        words = ["apply", "--server-side", "--force-conflicts", f"--field-manager={MANAGER}", "--filename", "-"]
        done = self.kubectl(*words, stdin=json.dumps(wanted))
        if done.returncode:
            raise Problem(f"Kubernetes does not take ConfigMap {name}: {last_line(done)}")


def silent(done: Done) -> bool:
    """Whether it failed for want of somebody to answer. What slurmctld refuses it would refuse again."""
    return bool(done.returncode) and bool(_SILENT.search(last_line(done)))


def last_line(done: Done) -> str:
    """What a command said last: most often the reason why it failed."""
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1] if said else f"exit code {done.returncode}, and no word"


def name_of(thing: dict[str, Any]) -> str:
    return thing["metadata"]["name"]
