"""slurmrestd, on the data parser that Slurm Bridge 1.2 speaks, with the token that the pod was given."""

import os
from typing import Any

from slurm_bridge.http import Refused, ask

API = "slurm/v0.0.44"
AT_WORK = {"PENDING", "RUNNING"}


class Slurm:
    def __init__(self, url: str) -> None:
        self.url, self.token = url, os.environ["SLURM_JWT"]  # read once, at the start, as 1.2 does

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        headers = {"X-SLURM-USER-TOKEN": self.token, "Content-Type": "application/json"}
        return ask(method, f"{self.url}/{API}/{path}", headers, body)

    def nodes(self) -> dict[str, dict[str, Any]]:
        return {node["name"]: node for node in self.call("GET", "nodes")["nodes"]}

    def job(self, number: str) -> dict[str, Any] | None:
        try:
            found = self.call("GET", f"job/{number}")["jobs"]
        except Refused as problem:
            if problem.status in (404, 500):  # slurmctld forgets jobs some minutes after their end
                return None
            raise
        return found[0] if found else None

    def jobs(self) -> list[dict[str, Any]]:
        return self.call("GET", "jobs")["jobs"]

    def submit(self, job: dict[str, Any]) -> int:
        return self.call("POST", "job/submit", {"job": job})["job_id"]

    def cancel(self, number: str) -> None:
        self.call("DELETE", f"job/{number}")

    def update_node(self, name: str, **fields: Any) -> None:
        self.call("POST", f"node/{name}", fields)

    def create_node(self, line: str) -> None:
        self.call("POST", "new/node/", {"node_conf": line})

    def delete_node(self, name: str) -> None:
        self.call("DELETE", f"node/{name}")

    def has_partition(self, name: str) -> bool:
        return any(each["name"] == name for each in self.call("GET", "partitions")["partitions"])
