"""A real Prometheus on loopback, which finds what to scrape as it would in a cluster."""

import http.client
import json
import socket
import subprocess
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab import debian
from tests.cluster.stacks import Stack, until

SECONDS = 4  # between two looks; what answers gives slurmctld two of them


@dataclass
class Prometheus:
    address: str
    folder: Path

    def get(self, path: str, **arguments: str) -> Any:
        return json.loads(self._ask(f"/api/v1/{path}?{urllib.parse.urlencode(arguments)}"))["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        return self.get("query", query=expression)["result"]

    def value(self, expression: str) -> float | None:
        """The number that an expression is now; None if it has none, or several."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if len(found) == 1 else None

    def firing(self, alert: str, **labels: str) -> dict[str, Any] | None:
        for each in self.get("alerts")["alerts"]:
            told = each["labels"]
            if told["alertname"] == alert and each["state"] == "firing" and labels.items() <= told.items():
                return each
        return None

    def until_firing(self, alert: str, **labels: str) -> dict[str, Any]:
        return until(lambda: self.firing(alert, **labels), f"{alert} {labels} to fire", 120)

    def until_quiet(self, alert: str, **labels: str) -> None:
        until(lambda: not self.firing(alert, **labels), f"{alert} {labels} to end", 180)

    def use(self, rules: Mapping[str, Any]) -> None:
        """Evaluate these rules from now on."""
        (self.folder / "rules.yaml").write_text(yaml.safe_dump(rules))
        self._ask("/-/reload", "POST")

    def _ask(self, path: str, method: str = "GET") -> bytes:
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=10)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            said = answer.read()
        finally:
            connection.close()
        assert answer.status == 200, f"{path}: {said.decode()}"
        return said


@contextmanager
def running(stack: Stack, folder: Path) -> Iterator[Prometheus]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found_pods = {"files": ["pods.json"], "refresh_interval": "5s"}
    config = {
        "global": {"scrape_interval": f"{SECONDS}s", "scrape_timeout": f"{SECONDS}s", "evaluation_interval": "2s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": [{"job_name": "pods", "file_sd_configs": [found_pods]}],
    }
    (folder / "rules.yaml").write_text("groups: []\n")
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    argv = [
        str(debian.prometheus() / "prometheus"),
        f"--config.file={folder}/prometheus.yaml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.enable-lifecycle",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    found = Prometheus(f"http://127.0.0.1:{port}", folder)
    end = threading.Event()
    threading.Thread(target=_discover, args=(stack, folder / "pods.json", end), daemon=True).start()
    try:

        def ready() -> bool:
            assert process.poll() is None, (folder / "log").read_text()[-2000:]
            try:
                return found.get("status/runtimeinfo") is not None
            except OSError:
                return False

        until(ready, "Prometheus to start")
        yield found
    finally:
        end.set()
        process.terminate()
        process.wait(30)


def _discover(stack: Stack, file: Path, end: threading.Event) -> None:
    """Pods of the namespace by their annotations. Debian's Prometheus is built without a way to ask Kubernetes."""
    argv = ["kubectl", "--kubeconfig", str(stack.lab.kubeconfig), "-n", stack.namespace, "get", "pods", "-o", "json"]
    while not end.wait(1):
        shown = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        pods = json.loads(shown.stdout)["items"] if shown.returncode == 0 else []
        told = json.dumps([_target(pod) for pod in pods if _target(pod)])
        if shown.returncode == 0 and (not file.exists() or file.read_text() != told):
            file.with_suffix(".new").write_text(told)
            file.with_suffix(".new").rename(file)


def _target(pod: dict[str, Any]) -> dict[str, Any] | None:
    noted = pod["metadata"].get("annotations", {})
    address = pod["status"].get("podIP")
    if noted.get("prometheus.io/scrape") != "true" or not address:
        return None
    labels = {"namespace": pod["metadata"]["namespace"], "pod": pod["metadata"]["name"]}
    labels["__metrics_path__"] = noted["prometheus.io/path"]
    return {"targets": [f"{address}:{noted['prometheus.io/port']}"], "labels": labels}
