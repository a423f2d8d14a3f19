"""A cluster with an HTTP interface, and two users whose jobs are none of each other's business."""

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from lab import paths
from lab.layout import Lab
from tests.cluster.stacks import Done, Stack

PORT = 30820
CONFIG: dict[str, Any] = {
    "cluster": {"name": "rest", "namespace": "rest", "stage": "development"},
    "controller": {"memory": "512Mi", "state": {"storageClass": "standard", "size": "1Gi"}},
    "worker": {"size": 1, "cpus": 2, "memory": "512Mi"},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30322}},
    "users": [{"name": "researcher", "uid": 10001}, {"name": "other", "uid": 10002}],
    "rest": {
        "enabled": True,
        "size": 2,
        "maxLifespan": "1d",
        "service": {"type": "NodePort", "nodePort": PORT},
        "ingress": {"host": "slurm.example.com", "tlsSecret": "rest-tls"},
    },
}


@dataclass
class Answer:
    """What slurmrestd says to a request."""

    status: int
    text: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)


@dataclass
class Rest:
    """The cluster, as programs reach it."""

    stack: Stack
    port: int = PORT

    @property
    def url(self) -> str:
        return f"http://{self.stack.lab.loopback}:{self.port}"

    def slipway(self, *words: str) -> Done:
        argv = ["slipway", *words, "--file", str(self.stack.file)]
        return subprocess.run(argv, cwd=paths.CHECKOUT, capture_output=True, text=True, timeout=120)

    def token(self, user: str = "researcher", lifespan: str = "1h") -> str:
        done = self.slipway("token", user, "--lifespan", lifespan)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def call(self, path: str, token: str = "", method: str = "GET", body: Any = None, **headers: str) -> Answer:
        sent = {"Content-Type": "application/json", **headers}
        if token:
            sent["X-SLURM-USER-TOKEN"] = token
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data, sent, method=method)  # noqa: S310 -- the lab's own
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return Answer(answer.status, answer.read().decode())
        except urllib.error.HTTPError as problem:
            return Answer(problem.code, problem.read().decode())

    def jobs(self, token: str, **headers: str) -> Answer:
        return self.call("slurm/v0.0.45/jobs", token, **headers)

    def submit(self, token: str, script: str, **fields: Any) -> str:
        job = {
            "name": "by-rest",
            "script": script,
            "current_working_directory": "/tmp",
            "environment": ["PATH=/usr/bin:/bin"],
            **fields,
        }
        answer = self.call("slurm/v0.0.45/job/submit", token, "POST", {"job": job})
        assert answer.status == 200, answer
        return str(answer.body["job_id"])


@pytest.fixture(scope="session")
def rest(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    stack = Stack.create(lab, "rest", tmp_path_factory.mktemp("rest"), **CONFIG)
    stack.up()
    yield Rest(stack)
    stack.destroy()
