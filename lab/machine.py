"""Nodes as processes of this machine: switch them on, cut their power, run something on them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab import cgroups, network
from lab.daemons import Setup
from lab.layout import Lab, Node
from lab.problem import Problem

SPEC = "node.json"


def home(lab: Lab, node: Node) -> Path:
    return lab.home / "nodes" / node.name


def process(lab: Lab, node: Node) -> int | None:
    """The process id of the node's first process if the node is on."""
    return next((pid for pid, program in _processes(home(lab, node)) if program != "unshare"), None)


def _processes(place: Path) -> list[tuple[int, str]]:
    """The first processes of the nodes at or below `place`, and those that hold them from outside, with their programs.

    They are found by their command lines and not by a file with their ids: a start that is killed at any moment
    leaves either a node that is found here or none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            spec = Path(words[-1])
            if "lab.node" in words and spec.name == SPEC and spec.is_relative_to(place):
                found.append((int(entry.name), words[0]))
    return found


def start(lab: Lab, node: Node, setup: Setup, path: str) -> None:
    """Switch the node on. What it had on its disk (pods' images, etcd's data) is still there."""
    place = home(lab, node)
    _lay_out(lab, node, setup, path)
    cgroups.make(f"{lab.cgroup}/{node.name}")
    namespaces = ["--fork", "--pid", "--mount-proc", "--mount", "--net", "--uts", "--ipc", "--kill-child=SIGKILL"]
    with (place / "node.log").open("ab") as log:
        outer = subprocess.Popen(
            ["unshare", *namespaces, sys.executable, "-m", "lab.node", str(place / SPEC)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    network.connect(lab, node, _first(lab, node, outer))


def _first(lab: Lab, node: Node, outer: subprocess.Popen[bytes]) -> int:
    log = home(lab, node) / "node.log"
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pid = process(lab, node)
        if pid:
            return pid
        if outer.poll() is not None:
            raise Problem(f"Node {node.name} could not be started: {log.read_text()[-500:]}")
        time.sleep(0.01)
    raise Problem(f"Node {node.name} did not start within 10 s; see {log}")


def _lay_out(lab: Lab, node: Node, setup: Setup, path: str) -> None:
    place = home(lab, node)
    binds = {
        place / "disk": "/var/lib",
        place / "log": "/var/log",
        place / "tmp": "/tmp",  # noqa: S108
        # The one place that Kubernetes' own provisioner knows. All nodes share it, as they would a network disk.
        lab.home / "volumes": "/tmp/hostpath_pv",  # noqa: S108
    }
    for folder in binds:
        folder.mkdir(parents=True, exist_ok=True)
    (place / "tmp").chmod(0o1777)
    for name, content in setup.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    spec = {
        "hostname": node.name,
        "address": node.address,
        "gateway": lab.bridge_address,
        "routes": {other.pod_subnet: other.address for other in lab.nodes if other != node},
        "binds": {str(folder): target for folder, target in binds.items()},
        "path": path,
        "daemons": setup.daemons,
    }
    (place / SPEC).write_text(json.dumps(spec, indent=2))


def stop(lab: Lab, node: Node) -> None:
    """Cut the power: everything on the node is gone at once, with no chance to say goodbye."""
    kill(home(lab, node))
    network.disconnect(node)
    cgroups.remove(f"{lab.cgroup}/{node.name}")


def kill(place: Path) -> None:
    """End the nodes whose folders are at or below `place`."""
    deadline = time.monotonic() + 30
    killed: set[int] = set()
    while True:
        for pid, _ in _processes(place):
            killed.add(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # A node's first process is gone only after everything below it.
        killed = {pid for pid in killed if _alive(pid)}
        if not killed:
            return
        if time.monotonic() > deadline:
            raise Problem(f"Processes {sorted(killed)} are still there 30 s after they were killed.")
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def enter(lab: Lab, node: Node) -> list[str]:
    """The start of a command line that runs a program on the node."""
    pid = process(lab, node)
    if pid is None:
        raise Problem(f"Node {node.name} is off. Switch it on: `uv run lab --name {lab.name} node start {node.name}`.")
    return ["nsenter", "--target", str(pid), "--all", "--"]
