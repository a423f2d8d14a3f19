"""The cluster as kubectl reaches it, with the same kubeconfig that the engine uses."""

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from typing import Any

from operations.problem import Problem, Unanswered

CONTROLLER = "controller-0"
CONTROLLERS = "app.kubernetes.io/name=controller"
ACCOUNTING = "accounting-0"
CONFIG_MAP = "slurm-config"
MANAGER = "slipway"

PATIENCE = 60.0
PAUSE = 1.0

# What is said where nobody heard the question: Kubernetes, the pod, or slurmctld in it.
_SILENT = re.compile(
    r"connection refused|was refused|unable to connect|no such host|unable to contact slurm|socket timed out|"
    r"i/o timeout|no answer within|error (dialing|sending)|unable to upgrade|unexpected eof|connection (reset|lost)|"
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

# By namespace, the controller's pod that is asked first. A machine that is off takes half a minute to be silent.
_FIRST: dict[str, str] = {}

# What Kubernetes says of a machine that it does not reach: it answers itself.
_BEYOND = re.compile(r"error dialing backend|error sending request", re.IGNORECASE)

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
            said = last_line(done) if done.returncode else ""
            refused = _REFUSED.search(said) and not _BEYOND.search(said) and words[0] != "delete"
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
        """A shell script in the controller's pod; in its backup's, if there is one and the first is not there."""
        if self.namespace not in _FIRST:
            _FIRST[self.namespace] = CONTROLLER
            if os.environ.get("SLIPWAY_BACKUP"):
                self._stand_in()
        first = _FIRST[self.namespace]
        done = self.inside(first, script, *words, seconds=seconds, container=container)
        if silent(done) and self._stand_in():
            return self.inside(_FIRST[self.namespace], script, *words, seconds=seconds, container=container)
        return done

    def _stand_in(self) -> bool:
        """Ask the other controller's pod from now on, if the one that was asked is gone and the other is there."""
        shown = self.kubectl("get", "pods", "--selector", CONTROLLERS, "--output", "json")
        pods = json.loads(shown.stdout)["items"] if shown.returncode == 0 else []
        here = [name_of(pod) for pod in pods if not on_lost_machine(pod)]
        if not here or _FIRST[self.namespace] in here:
            return False
        _FIRST[self.namespace] = here[0]
        return True

    def slurmdbd(self, script: str, *words: str, seconds: float = 60) -> Done:
        """A shell script in slurmdbd's pod."""
        return self.inside(ACCOUNTING, script, *words, seconds=seconds, container="slurmdbd")

    def inside(self, pod: str, script: str, *words: str, seconds: float = 60, container: str = "slurmctld") -> Done:
        """A shell script in a pod."""
        argv = ["exec", "-i", pod, "-c", container, "--", "sh", "-s", *words]
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


def on_lost_machine(pod: dict[str, Any]) -> bool:
    """Whether the Kubernetes node of a pod is gone: it is running for all that is known, and nobody can tell. Then its
    containers are ready, by the last word of the node, and the pod is not."""
    conditions = {each["type"]: each for each in pod["status"].get("conditions", [])}
    ready, containers = (conditions.get(kind, {}).get("status") for kind in ("Ready", "ContainersReady"))
    unheard = ready == "False" and containers == "True"
    named = conditions.get("Ready", {}).get("reason") == "NodeNotReady"
    return ending(pod) or unheard or named or "DisruptionTarget" in conditions


def ending(pod: dict[str, Any]) -> bool:
    return "deletionTimestamp" in pod["metadata"]
