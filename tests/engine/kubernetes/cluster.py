"""The cluster as a second person sees it, through kubectl: what is really there, and changes behind Pulumi's back."""

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any


@dataclass(frozen=True)
class Kubectl:
    """kubectl in one namespace."""

    namespace: str

    def run(self, *args: str, stdin: str | None = None, fails: bool = False) -> str:
        done = subprocess.run(
            ["kubectl", "--namespace", self.namespace, *args],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode != 0) == fails, f"kubectl {' '.join(args)}: {done.stdout}{done.stderr}"
        return done.stdout

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """The live object with its managed fields, or None."""
        found = self.run("get", kind, name, "--ignore-not-found", "--show-managed-fields", "-o", "json")
        return json.loads(found) if found.strip() else None

    def names(self, kind: str) -> list[str]:
        listed = json.loads(self.run("get", kind, "-o", "json"))
        return sorted(item["metadata"]["name"] for item in listed["items"])

    def create(self, manifest: str) -> None:
        self.run("create", "-f", "-", stdin=dedent(manifest))

    def patch(self, kind: str, name: str, patch: dict[str, Any], *, manager: str = "somebody-else") -> None:
        body = json.dumps(patch)
        self.run("patch", kind, name, "--type", "merge", "--field-manager", manager, "--patch", body)


def eventually(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until `holds()`, and fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"still not so after {seconds:g} s"
        time.sleep(0.1)
