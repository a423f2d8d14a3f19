"""The cluster as kubectl reaches it, with the same kubeconfig that the engine uses."""

import subprocess
from dataclasses import dataclass

from operations.problem import Problem

CONTROLLER = "controller-0"


@dataclass(frozen=True)
class Cluster:
    """One namespace of one Kubernetes cluster."""

    namespace: str

    def kubectl(self, *words: str, stdin: str | None = None, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """Never raises for what kubectl answers: whoever asks knows what an answer means."""
        argv = ["kubectl", "--namespace", self.namespace, *words]
        try:
            return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=seconds)
        except FileNotFoundError:
            raise Problem("kubectl is not on PATH: install it, or run inside the environment of `lab env`.") from None
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(argv, 124, "", f"no answer within {seconds:.0f} s")

    def controller(self, script: str, *words: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """A shell script in the controller's pod."""
        argv = ["exec", "-i", CONTROLLER, "-c", "slurmctld", "--", "sh", "-s", *words]
        return self.kubectl(*argv, stdin=script, seconds=seconds)
