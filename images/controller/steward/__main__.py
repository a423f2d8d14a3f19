"""Round after round: a token that is good for long enough, and marks on the machines that are lent."""

import base64
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from caretaker.clients import Kubernetes, Unanswered

from steward.addresses import Addresses
from steward.lending import Lender, Machine, Worker
from steward.tokens import digest, due, sign

PAUSE = 5.0
MINUTE = 60
NODES_PER_SECOND = 200  # that are looked at, so that a large cluster is looked at less often
RESTARTED = "slipway/restarted"  # of the Secret: the token for which its readers were last restarted
TOKEN = "slipway/token"  # noqa: S105 -- of the readers' pods: which token they have


class Steward:
    def __init__(self, kubernetes: Kubernetes, told: Mapping[str, str]) -> None:
        self.kubernetes, self.told = kubernetes, told
        home = told["BRIDGE_NAMESPACE"]
        self.secret = f"/api/v1/namespaces/{home}/secrets/{told['TOKEN_OBJECT']}"
        self.deployments = {
            name: f"/apis/apps/v1/namespaces/{home}/deployments/{name}" for name in _words(told, "READERS")
        }
        self.lender = Lender(
            kubernetes.namespace,
            frozenset(_words(told, "NODE_SETS")),
            told["PARTITION"],
            dict(each.split("=", 1) for each in _words(told, "EXTERNAL")),
        )
        self.addresses = Addresses(told["SLURMRESTD"], lambda: sign(self._key(), MINUTE, time.time()))
        self.said: set[str] = set()

    def _key(self) -> bytes:
        return Path(self.told["JWT_KEY"]).read_bytes()

    def round(self) -> float:
        """Until when it may rest, in seconds."""
        self.renew()
        Path(self.told["READY"]).touch()
        return max(PAUSE, self.lend() / NODES_PER_SECOND)

    def renew(self) -> None:
        """The readers are restarted for a token that takes the place of another, also if whoever made it was killed
        before it could. For the first one they have waited."""
        key, seconds = self._key(), int(self.told["TOKEN_SECONDS"])
        secret = self.kubernetes.get(self.secret)
        entry = self.told["TOKEN_KEY"]
        before = token = base64.b64decode((secret.get("data") or {}).get(entry, "")).decode()
        restarted = (secret["metadata"].get("annotations") or {}).get(RESTARTED, "")
        if due(key, token, seconds, time.time()):
            token = sign(key, seconds, time.time())
            if not before:
                restarted = digest(token)
            self._write({entry: base64.b64encode(token.encode()).decode()}, restarted)
            say(f"a token that is good for {seconds} s")
        if restarted != digest(token):
            for name, path in self.deployments.items():
                self._restart(name, path, digest(token))
            self._write({}, digest(token))

    def _write(self, data: dict[str, str], restarted: str) -> None:
        change = {"metadata": {"annotations": {RESTARTED: restarted}}, **({"data": data} if data else {})}
        self.kubernetes.patch(self.secret, change)

    def _restart(self, name: str, path: str, token: str) -> None:
        change = {"spec": {"template": {"metadata": {"annotations": {TOKEN: token}}}}}
        try:
            self.kubernetes.patch(path, change)
        except Unanswered as problem:
            if "not found" not in str(problem):
                raise
        else:
            say(f"{name} restarts for it")

    def lend(self) -> int:
        """How many machines it has looked at."""
        listed = f"/api/v1/namespaces/{self.kubernetes.namespace}/pods?labelSelector=slipway/node-set"
        workers = [Worker.read(pod) for pod in self.kubernetes.list(listed)]
        machines = [Machine.read(node) for node in self.kubernetes.list("/api/v1/nodes")]
        for marked in self.lender.marks(machines, workers, time.time()):
            try:
                self.kubernetes.patch(f"/api/v1/nodes/{marked.machine}", marked.change)
            except Unanswered as problem:  # one that fails does not keep the others
                say(f"{marked}: {problem}")
            else:
                say(str(marked))
        crowded = set(self.lender.crowded(workers))
        for each in sorted(crowded - self.said):
            say(each)
        self.said = crowded
        for each in self.addresses.tell(machines):
            say(each)
        return len(machines)


def _words(told: Mapping[str, str], name: str) -> list[str]:
    return [each for each in told.get(name, "").split(",") if each]


def say(text: str) -> None:
    sys.stdout.write(f"steward: {text}\n")
    sys.stdout.flush()


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # process 1 would not hear it
    steward = Steward(Kubernetes(), os.environ)
    said = ""
    while True:
        pause = PAUSE
        try:
            pause = steward.round()
            said = ""
        except (Unanswered, ValueError, KeyError) as problem:
            if str(problem) != said:  # once, however long it lasts
                say(said := str(problem))
        time.sleep(pause)


if __name__ == "__main__":
    main()
