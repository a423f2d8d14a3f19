"""The network that joins a lab's nodes, seen from the machine: a bridge, a cable for each node, NodePorts on loopback.

The bridge carries the lab's home as its alias. So everything of a lab outside its home is found again, and belongs to
nobody else, also when the lab's own record is lost."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from lab import paths
from lab.layout import NODE_PORTS, Lab, Node
from lab.run import run


def plug_in(lab: Lab) -> None:
    """Make the bridge and its rules, or mend what is there of them."""
    if not any(link["ifname"] == lab.bridge for link in _links()):
        run(["ip", "link", "add", lab.bridge, "type", "bridge"])
    run(["ip", "link", "set", lab.bridge, "alias", str(lab.home), "up"])
    run(["ip", "address", "replace", f"{lab.bridge_address}/24", "dev", lab.bridge])
    hops = {lab.services: lab.control_plane.address, **{node.pod_subnet: node.address for node in lab.nodes}}
    for subnet, hop in hops.items():
        run(["ip", "route", "replace", subnet, "via", hop])
    # Packets from loopback may leave by this bridge, with the bridge's own address.
    Path(f"/proc/sys/net/ipv4/conf/{lab.bridge}/route_localnet").write_text("1")
    ports = f"{NODE_PORTS[0]}-{NODE_PORTS[-1]}"
    rules = f"""
table ip {lab.bridge}
delete table ip {lab.bridge}
table ip {lab.bridge} {{
    chain output {{
        type nat hook output priority -100;
        ip daddr {lab.loopback} tcp dport {ports} dnat to {lab.control_plane.address}
        ip daddr {lab.loopback} udp dport {ports} dnat to {lab.control_plane.address}
    }}
    chain postrouting {{
        type nat hook postrouting priority 100;
        ip saddr 127.0.0.0/8 oifname "{lab.bridge}" masquerade
    }}
}}
"""
    run(["nft", "-f", "-"], stdin=rules)


def owner(bridge: str) -> str | None:
    """The home of the lab that has this bridge; None if nobody has it."""
    return next((link.get("ifalias", "") for link in _links() if link["ifname"] == bridge), None)


def taken_elsewhere() -> set[int]:
    """The slots of labs that live in other caches than ours."""
    theirs = [link for link in _links() if not str(link.get("ifalias", paths.labs())).startswith(str(paths.labs()))]
    return {int(found[1]) for link in theirs if (found := re.fullmatch(r"slipway(\d)", link["ifname"]))}


def bridges(home: Path) -> list[str]:
    """The bridges of the lab that lives there."""
    return [link["ifname"] for link in _links() if link.get("ifalias") == str(home)]


def remove(bridge: str) -> None:
    """Take away the rules, the cables that are still there, and last the bridge, which tells whose they were."""
    subprocess.run(["nft", "delete", "table", "ip", bridge], capture_output=True)
    for link in _links():
        if link["ifname"].startswith(f"{bridge}n"):
            _delete(link["ifname"])
    _delete(bridge)


def connect(lab: Lab, node: Node, pid: int) -> None:
    """Plug the node of that first process in."""
    _delete(node.interface)
    run(["ip", *f"link add {node.interface} type veth peer name eth0 netns {pid}".split()])
    run(["ip", *f"link set {node.interface} master {lab.bridge} up".split()])


def connected(lab: Lab, node: Node) -> bool:
    """Whether the node's cable is plugged in, which is the last thing that starting it does."""
    links = [link for link in _links() if link["ifname"] == node.interface]
    return bool(links) and links[0].get("master") == lab.bridge and "UP" in links[0]["flags"]


def disconnect(node: Node) -> None:
    _delete(node.interface)


def _delete(link: str) -> None:
    # It may be gone already: the kernel takes a cable away with its node, in its own time.
    subprocess.run(["ip", "link", "delete", link], capture_output=True)


def _links() -> list[dict[str, Any]]:
    # A machine without the tool has no lab either.
    return json.loads(run(["ip", "-json", "link", "show"])) if shutil.which("ip") else []
