"""What must hold before anything is changed."""

import json
import os
import shutil
from ipaddress import IPv4Address, ip_network
from pathlib import Path

from lab import debian, golang, network, paths
from lab.layout import NODE_PORTS, Lab
from lab.problem import Problem
from lab.run import run

NEEDED_GIB = 10
HIDDEN_ON_NODES = ("/run", "/tmp", "/var/lib", "/var/log")  # noqa: S108 -- nodes have these of their own


def check(lab: Lab, *, tools: dict[str, str], running: bool) -> None:
    """Raise a Problem that names the first thing in the way and the way out of it."""
    _root()
    _cache_place()
    debian.check(tools)
    golang.check()
    if not running:
        _disk()
        _place(lab)
        _ports(lab)
        _addresses(lab)


def _root() -> None:
    if os.geteuid() != 0:
        raise Problem(
            "The lab makes network namespaces and mounts, and this needs root.\n"
            "  Run the same command with `sudo`, or use a cluster that runs: `make up CONTEXT=<kubectl context>`."
        )


def _cache_place() -> None:
    for hidden in HIDDEN_ON_NODES:
        if paths.cache().is_relative_to(hidden):
            raise Problem(
                f"The cache {paths.cache()} is below {hidden}, which each node has of its own.\n"
                "  Set SLIPWAY_CACHE to a folder elsewhere."
            )


def _disk() -> None:
    folder = paths.cache()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free / (1 << 30)
    if free < NEEDED_GIB:
        raise Problem(
            f"{free:.1f} GiB are free at {folder}, and the lab needs {NEEDED_GIB}.\n"
            "  Free some, or set SLIPWAY_CACHE to a folder on a larger disk."
        )


def _place(lab: Lab) -> None:
    """Labs of another user or another cache are not in our records, but their bridges are on this machine."""
    owner = network.owner(lab.bridge)
    if owner and owner != str(lab.home):
        raise Problem(
            f"Another lab has this place on the machine already: {owner or lab.bridge}.\n"
            "  Take it down with the SLIPWAY_CACHE that it was started with, or use a lab of another name."
        )


def _ports(lab: Lab) -> None:
    taken = sorted(listening(lab.loopback) & set(NODE_PORTS))
    if taken:
        raise Problem(
            f"Port {taken[0]} of {lab.loopback} is in use, and the lab's NodePorts are {NODE_PORTS[0]} to "
            f"{NODE_PORTS[-1]}.\n  Find out who has it with `ss -ltnp 'sport = :{taken[0]}'`, and end it."
        )


def listening(address: str) -> set[int]:
    """TCP ports of this machine's `address` on which something listens."""
    # As the kernel writes them: its own, all of IPv4, and both once more for IPv6 sockets that take IPv4.
    own = IPv4Address(address).packed[::-1].hex().upper()
    suits = {own, "00000000", "0" * 32, f"0000000000000000FFFF0000{own}"}
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if Path(table).exists():
            for line in Path(table).read_text().splitlines()[1:]:
                _, local, _, state, *_ = line.split()
                host, _, port = local.partition(":")
                if state == "0A" and host in suits:
                    ports.add(int(port, 16))
    return ports


def _addresses(lab: Lab) -> None:
    if not shutil.which("ip"):
        return
    for route in json.loads(run(["ip", "-json", "-4", "route", "show"])):
        others = route["dst"] != "default" and route.get("dev") != lab.bridge
        if others and ip_network(route["dst"]).overlaps(ip_network(lab.network)):
            raise Problem(
                f"This machine already has a route to {route['dst']} by {route.get('dev')}, and the lab would use "
                f"{lab.network}.\n  Take that network away, or use a lab of another name: its addresses differ."
            )
