"""Nodes as seen from the machine: plug them in, start them, cut their power, and leave nothing behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab.daemons import Setup
from lab.layout import Lab, Node
from lab.problem import Problem
from lab.run import run

CGROUPS = Path("/sys/fs/cgroup")


def home(lab: Lab, node: Node) -> Path:
    return lab.home / "nodes" / node.name


def process(lab: Lab, node: Node) -> int | None:
    """The process id of the node's first process if the node is on."""
    return next((pid for pid, program in _processes(lab, node) if program != "unshare"), None)


def _processes(lab: Lab, node: Node) -> list[tuple[int, str]]:
    """The node's first process, and the one that holds it from outside, with their programs' names.

    They are found by their command lines and not by a file with their ids: a start that is killed at any moment
    leaves either a node that is found here or none."""
    spec = str(home(lab, node) / "node.json")
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if words[-1] == spec and "lab.node" in words:
                found.append((int(entry.name), words[0]))
    return found


def plug_in(lab: Lab) -> None:
    """The network that joins the nodes, and NodePorts on the machine's own 127.0.0.1."""
    if not _links(lab.bridge):
        run(["ip", "link", "add", lab.bridge, "type", "bridge"])
    # The alias says whose it is, also when nothing else does any more.
    run(["ip", "link", "set", lab.bridge, "alias", lab.name, "up"])
    run(["ip", "address", "replace", f"{lab.bridge_address}/24", "dev", lab.bridge])
    hops = {lab.services: lab.control_plane.address, **{node.pod_subnet: node.address for node in lab.nodes}}
    for subnet, hop in hops.items():
        run(["ip", "route", "replace", subnet, "via", hop])
    _rules(lab)


def _rules(lab: Lab) -> None:
    # Packets from 127.0.0.1 may leave by this bridge, with the bridge's own address.
    Path(f"/proc/sys/net/ipv4/conf/{lab.bridge}/route_localnet").write_text("1")
    ports = f"{lab.node_ports[0]}-{lab.node_ports[-1]}"
    rules = f"""
table ip {lab.cgroup}
delete table ip {lab.cgroup}
table ip {lab.cgroup} {{
    chain output {{
        type nat hook output priority -100;
        ip daddr 127.0.0.1 tcp dport {ports} dnat to {lab.control_plane.address}
        ip daddr 127.0.0.1 udp dport {ports} dnat to {lab.control_plane.address}
    }}
    chain postrouting {{
        type nat hook postrouting priority 100;
        ip saddr 127.0.0.0/8 oifname "{lab.bridge}" masquerade
    }}
}}
"""
    run(["nft", "-f", "-"], stdin=rules)


def unplug(lab: Lab) -> None:
    for link in _links(lab.name):
        run(["ip", "link", "delete", link])
    subprocess.run(["nft", "delete", "table", "ip", lab.cgroup], capture_output=True)


def _links(name: str) -> list[str]:
    """The network interfaces of that name or alias."""
    links = json.loads(run(["ip", "-json", "link", "show"]))
    return [link["ifname"] for link in links if name in (link["ifname"], link.get("ifalias"))]


def start(lab: Lab, node: Node, setup: Setup, path: str) -> None:
    """Switch the node on. What it had on its disk (pods' images, etcd's data) is still there."""
    place = home(lab, node)
    _lay_out(lab, node, setup, path)
    _make_cgroups(lab, node)
    namespaces = ["--fork", "--pid", "--mount-proc", "--mount", "--net", "--uts", "--ipc", "--kill-child=SIGKILL"]
    with (place / "node.log").open("ab") as log:
        outer = subprocess.Popen(
            ["unshare", *namespaces, sys.executable, "-m", "lab.node", str(place / "node.json")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    pid = _first(lab, node, outer)
    if _links(node.interface):
        run(["ip", "link", "delete", node.interface])
    run(["ip", *f"link add {node.interface} type veth peer name eth0 netns {pid}".split()])
    run(["ip", *f"link set {node.interface} alias {_cable(lab, node)} master {lab.bridge} up".split()])


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


def connected(lab: Lab, node: Node) -> bool:
    """Whether the node's cable is plugged in, which is the last thing that starting it does."""
    shown = subprocess.run(["ip", "link", "show", node.interface], capture_output=True, text=True).stdout
    return f"master {lab.bridge} " in shown and "UP" in shown


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
    (place / "node.json").write_text(json.dumps(spec, indent=2))


def stop(lab: Lab, node: Node) -> None:
    """Cut the power: everything on the node is gone at once, with no chance to say goodbye."""
    deadline = time.monotonic() + 30
    while processes := _processes(lab, node):
        for pid, _ in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise Problem(f"Node {node.name} (processes {processes}) is still there 30 s after it was killed.")
        time.sleep(0.02)
    # The kernel takes the cable away with the node's network namespace, but in its own time.
    for link in _links(_cable(lab, node)):
        subprocess.run(["ip", "link", "delete", link], capture_output=True)
    _remove_cgroups(lab, node)


def enter(lab: Lab, node: Node) -> list[str]:
    """The start of a command line that runs a program on the node."""
    pid = process(lab, node)
    if pid is None:
        raise Problem(f"Node {node.name} is off. Switch it on: `uv run lab --name {lab.name} node start {node.name}`.")
    return ["nsenter", "--target", str(pid), "--all", "--"]


def _cable(lab: Lab, node: Node) -> str:
    return f"{lab.name}/{node.name}"


def _hierarchies() -> list[Path]:
    """The root of every cgroup hierarchy: one with cgroup v2, one for each controller with v1."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [entry for entry in CGROUPS.iterdir() if entry.is_dir() and not entry.is_symlink()]


def _make_cgroups(lab: Lab, node: Node) -> None:
    for root in _hierarchies():
        folder = root / lab.cgroup / node.name
        folder.mkdir(parents=True, exist_ok=True)
        for group in (root, root / lab.cgroup):
            if (group / "cgroup.subtree_control").exists() and root == CGROUPS:
                wanted = (group / "cgroup.controllers").read_text().split()
                (group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))


def _remove_cgroups(lab: Lab, node: Node) -> None:
    deadline = time.monotonic() + 10
    for root in _hierarchies():
        folder = root / lab.cgroup / node.name
        # Killed processes leave their cgroups a moment after they are gone.
        while folder.exists() and not _rmdir_tree(folder) and time.monotonic() < deadline:
            time.sleep(0.05)


def _rmdir_tree(folder: Path) -> bool:
    try:
        for inner in sorted(folder.rglob("*"), key=lambda path: len(path.parts), reverse=True):
            if inner.is_dir():
                inner.rmdir()
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def forget(lab: Lab) -> None:
    """Remove what belongs to the lab as a whole and lies outside its home."""
    for root in _hierarchies():
        _rmdir_tree(root / lab.cgroup)
