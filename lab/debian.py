"""What Debian gives: node daemons unpacked into the cache, and a few tools installed on the machine.

The daemons are unpacked and not installed: a package would start them as services, and Debian's containerd would
push aside the one that a machine with docker already has."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from lab import paths
from lab.locks import only_one
from lab.problem import Problem
from lab.progress import step
from lab.run import run

UNPACKED = ("containerd", "runc", "etcd-server", "containernetworking-plugins")
BASIC_TOOLS = {"ip": "iproute2", "nft": "nftables", "nsenter": "util-linux", "mount": "mount", "ssh": "openssh-client"}
BUILD_TOOLS = {"buildah": "buildah", "mmdebstrap": "mmdebstrap"}


def release() -> str:
    """`12` on bookworm; empty where this is not Debian (or a system that calls itself like it)."""
    try:
        lines = Path("/etc/os-release").read_text().splitlines()
    except FileNotFoundError:
        return ""
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    family = f"{facts.get('ID', '')} {facts.get('ID_LIKE', '')}"
    return facts.get("VERSION_ID", "testing").strip('"') if "debian" in family else ""


def daemons() -> Path:
    """The root that holds `usr/bin/containerd` and the rest."""
    return paths.tools() / f"debian-{release()}"


def missing(tools: dict[str, str]) -> list[str]:
    """The packages of the tools that are not on PATH."""
    return sorted({package for tool, package in tools.items() if not shutil.which(tool)})


def unpack() -> Path:
    """The daemons' packages, downloaded and unpacked once."""
    return _unpacked(daemons(), UNPACKED)


def prometheus() -> Path:
    """The folder that holds `prometheus` and `promtool`: for tests, which are what needs them."""
    return _unpacked(paths.tools() / f"prometheus-{release()}", ("prometheus",)) / "usr/bin"


def _unpacked(home: Path, packages: Sequence[str]) -> Path:
    if home.exists():
        return home
    with only_one(paths.locks() / "debian", "unpacking Debian packages"):
        if home.exists():
            return home
        with step(f"{', '.join(packages)}: unpacking from Debian packages"):
            _refresh()
            scratch = paths.tools() / ".debian"
            shutil.rmtree(scratch, ignore_errors=True)  # of a download that was cut short
            scratch.mkdir(parents=True)
            run(["apt-get", "download", "-q", *packages], cwd=scratch)
            for package in scratch.glob("*.deb"):
                run(["dpkg", "-x", package, scratch / "root"])
            (scratch / "root").rename(home)
            shutil.rmtree(scratch)
    return home


def install(packages: list[str]) -> None:
    """Install what is missing with apt."""
    if not packages:
        return
    with step(f"{', '.join(packages)}: installing with apt"):
        _refresh()
        run(
            ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages],
            env={"DEBIAN_FRONTEND": "noninteractive"},
            way_out=f"Install them by hand: apt-get install {' '.join(packages)}",
        )


def _refresh() -> None:
    run(["apt-get", "update", "-q"], way_out="A Debian mirror must answer: see /etc/apt/sources.list.")


def check(tools: dict[str, str]) -> None:
    """Say what is missing while nothing has been changed yet."""
    packages = missing(tools)
    needs_apt = packages or not daemons().exists()
    if needs_apt and not (release() and shutil.which("apt-get")):
        wanted = ", ".join([*packages, *([] if daemons().exists() else UNPACKED)])
        raise Problem(
            f"This machine has no apt, and these are missing: {wanted}.\n"
            "  Run the lab on Debian 12 or newer, or use a cluster that runs: `make up CONTEXT=<kubectl context>`."
        )
    if packages and os.geteuid() != 0:
        raise Problem(
            f"Missing Debian packages: {', '.join(packages)}.\n  As root: apt-get install {' '.join(packages)}"
        )
