"""Where Slurm finds the bridge's external nodes.

The bridge gives them no address, so that slurmctld looks for one under their names whenever it hands one out. Pods do
not know machines by name: it would wait ten seconds each time, and everybody with it. Nothing is ever sent to the
address; there must be one."""

import json
import time
from collections.abc import Callable, Iterable

from caretaker.clients import JSON, SECONDS, run

from steward.lending import EXTERNAL, Machine

API = "slurm/v0.0.44"  # the one that the bridge speaks
AGAIN = 60.0  # after which a node is looked at again: the bridge may have made it anew


class Addresses:
    def __init__(self, url: str, token: Callable[[], str]) -> None:
        self.url, self.token = url, token
        self.seen: dict[str, float] = {}

    def tell(self, machines: Iterable[Machine]) -> list[str]:
        """The external nodes whose address Slurm has learnt now."""
        external = {each.name: each.address for each in machines if EXTERNAL in each.labels and each.address}
        now = time.monotonic()
        self.seen = {name: when for name, when in self.seen.items() if name in external and now - when < AGAIN}
        told: list[str] = []
        for name, address in external.items():
            if name in self.seen:
                continue
            known = self._known(name)
            if known is None:
                continue
            if known != address:
                self._call("POST", f"node/{name}", {"address": address})
                told.append(f"{name} is at {address}")
            self.seen[name] = now
        return told

    def _known(self, name: str) -> str | None:
        """None as long as Slurm has no such node, which it says without calling it an error."""
        nodes = json.loads(self._call("GET", f"node/{name}")).get("nodes")
        return nodes[0]["address"] if nodes else None

    def _call(self, method: str, path: str, body: dict[str, str] | None = None) -> str:
        lines = [f'header = "X-SLURM-USER-TOKEN: {self.token()}"']
        if body is not None:
            lines += [f'header = "Content-Type: {JSON}"', f"data = {json.dumps(json.dumps(body))}"]
        return run(
            *("curl", "--silent", "--show-error", "--fail-with-body", "--max-time", str(SECONDS - 5)),
            *("--request", method, "--config", "-", f"{self.url}/{API}/{path}"),
            stdin="\n".join(lines),
        )
