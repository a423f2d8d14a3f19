"""slurmctld by way of scontrol, and Kubernetes by way of curl: the image has no other client."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from caretaker.world import Node

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
API = "https://kubernetes.default.svc"
SECONDS = 30
JSON = "application/json"
PAGE = 200
_LINE = re.compile(r"NodeName=(?P<name>\S+) .*?\bState=(?P<states>\S+)")
_REASON = re.compile(r" Reason=(.*?) \[[^\]\[]*@[^\]\[]*\]")


class Unanswered(Exception):  # noqa: N818 -- most often somebody only restarts
    """Nobody answers, or answers no. The next round asks again."""


def run(*argv: str, stdin: str = "") -> str:
    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unanswered(f"{argv[0]} has no answer within {SECONDS} s") from None
    if done.returncode:
        raise Unanswered(f"{' '.join(argv[:4])}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


class Slurm:
    def __init__(self, port: int) -> None:
        self._ready = f"http://127.0.0.1:{port}/readyz"

    def ready(self) -> bool:
        """Whether the slurmctld of this pod is the one that decides. A backup is not."""
        try:
            run("curl", "--silent", "--fail", "--max-time", "5", "--output", "/dev/null", self._ready)
        except Unanswered:
            return False
        return True

    def nodes(self) -> dict[str, Node]:
        return parse(run("scontrol", "show", "nodes", "--oneliner"))

    def update(self, node: str, *words: str) -> None:
        run("scontrol", "update", f"NodeName={node}", *words)


def parse(shown: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for line in shown.splitlines():
        if match := _LINE.match(line):
            reason = _REASON.search(line)
            states = frozenset(match["states"].rstrip("*").split("+"))
            found[match["name"]] = Node(match["name"], states, reason[1] if reason else "")
    return found


class Kubernetes:
    def __init__(self) -> None:
        self.namespace = (ACCOUNT / "namespace").read_text().strip()

    def list(self, path: str) -> Iterator[dict[str, Any]]:
        """All objects of a kind, some at a time: those of thousands of machines are large."""
        more = ""
        while True:
            page = json.loads(self._call("GET", f"{path}{'&' if '?' in path else '?'}limit={PAGE}{more}"))
            yield from page["items"]
            following = page["metadata"].get("continue")
            if not following:
                return
            more = f"&continue={following}"

    def get(self, path: str) -> dict[str, Any]:
        return json.loads(self._call("GET", path))

    def delete(self, path: str, options: Mapping[str, Any]) -> None:
        self._call("DELETE", path, options)

    def patch(self, path: str, change: Mapping[str, Any]) -> None:
        self._call("PATCH", path, change, "application/merge-patch+json")

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None, kind: str = JSON) -> str:
        # The token is not on the command line, where others could read it; and it is a new one every hour.
        lines = [f'header = "Authorization: Bearer {(ACCOUNT / "token").read_text().strip()}"']
        if body is not None:
            lines += [f'header = "Content-Type: {kind}"', f"data = {json.dumps(json.dumps(body))}"]
        return run(
            *("curl", "--silent", "--show-error", "--fail-with-body", "--max-time", str(SECONDS - 5)),
            *("--cacert", str(ACCOUNT / "ca.crt"), "--request", method, "--config", "-", f"{API}{path}"),
            stdin="\n".join(lines),
        )
