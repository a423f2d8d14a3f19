"""Bad weather for the lab itself: each ends in a clear message or heals by itself, and nothing is left behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import layout, machine, paths
from lab.layout import NODE_PORTS, Lab
from lab.node import WANTED_BY_KUBELET

NAME = "storm"
LAB = [sys.executable, "-m", "lab.cli", "--name", NAME]
NODES = ("control-plane", "system-0", "compute-0")


def lab(*words: str, prefix: tuple[str, ...] = (), **env: str) -> subprocess.CompletedProcess[str]:
    argv = [*prefix, *LAB, *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=400, env={**os.environ, **env})


def heed_interrupts() -> None:
    """What is started in the background of a script ignores them, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start_up() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*LAB, "up", "--no-stack"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=heed_interrupts,
    )


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, f"not within 120 s: {what}"
        time.sleep(0.02)


def running(node: str) -> bool:
    found = layout.find(NAME)
    return bool(found and machine.process(found, found.node(node)))


def traces() -> set[str]:
    """Everything on this machine that belongs to a lab and lies outside the labs' own folders."""

    def output(*argv: str) -> list[str]:
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()

    roots = [Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").glob("*/")]
    found = [f"cgroup {path}" for root in roots for path in root.glob("slipway*")]
    found += [f"link {line.split()[0]}" for line in output("ip", "-brief", "link") if line.startswith("slipway")]
    found += [f"rules {line}" for line in output("nft", "list", "tables")]
    found += [f"{name} = {(Path('/proc/sys') / name).read_text()}" for name in WANTED_BY_KUBELET]
    found += [f"mount {line}" for line in Path("/proc/mounts").read_text().splitlines()]
    return set(found)


BEFORE = traces()


def remains() -> list[str]:
    """What is left of this lab. What others do meanwhile is theirs."""
    others = {lab.bridge for lab in layout.everyone() if lab.name != NAME}
    left = [f"folder {paths.labs() / NAME}"] if (paths.labs() / NAME).exists() else []
    left += sorted(each for each in traces() - BEFORE if others.isdisjoint(re.findall(r"slipway\d+", each)))
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"/labs/{NAME}/" in words:
            left.append(f"process {process.name}: {words}")
    return left


@pytest.fixture(autouse=True)
def calm() -> Iterator[None]:
    """Each test begins and ends without this lab."""
    yield
    assert lab("down").returncode == 0
    assert remains() == []


def ready_nodes() -> list[str]:
    found = layout.find(NAME)
    assert found
    argv = [str(found.home / "bin" / "kubectl"), "--kubeconfig", str(found.kubeconfig), "get", "nodes", "--no-headers"]
    lines = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    return sorted(line.split()[0] for line in lines if line.split()[1] == "Ready")


def test_a_start_that_is_killed_halfway_heals_at_the_next_start() -> None:
    # A folder without a node, a node without its cable, and nodes that run but were never waited for.
    home = paths.labs() / NAME
    moments = {
        "a record": (home / "lab.json").exists,
        "a node": lambda: running("system-0"),
        "an API server's log": (home / "nodes" / "control-plane" / "log" / "slipway" / "kube-proxy.log").exists,
    }
    for moment, reached in moments.items():
        process = start_up()
        wait_until(moment, reached)
        process.kill()
        process.communicate()
    healed = lab("up", "--no-stack")
    assert healed.returncode == 0, healed.stderr
    assert ready_nodes() == sorted(NODES)


def test_a_killed_start_can_be_taken_down() -> None:
    process = start_up()
    wait_until("nodes start", lambda: running("compute-0"))
    process.kill()
    process.communicate()
    assert lab("down").returncode == 0
    assert remains() == []


def test_a_killed_run_is_cleared_away_by_the_next_one() -> None:
    process = subprocess.Popen([*LAB, "run", "--", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until("a record", (paths.labs() / NAME / "lab.json").exists)
    process.kill()
    process.wait()
    again = lab("run", "--", "sh", "-c", "echo this is $SLIPWAY_LAB at $SLIPWAY_LAB_ADDRESS")
    assert again.returncode == 0, again.stderr
    assert f"this is {NAME} at 127." in again.stdout
    assert remains() == []


def test_an_interrupt_says_how_to_go_on() -> None:
    process = start_up()
    wait_until("nodes start", lambda: running("control-plane"))
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Run the same command again" in said
    assert "Traceback" not in said


def test_a_half_made_folder_without_a_record_is_made_anew() -> None:
    home = paths.labs() / NAME
    (home / "pki").mkdir(parents=True)
    (home / "pki" / "ca.crt").write_text("not a certificate")
    (home / "nodes" / "system-0" / "disk").mkdir(parents=True)
    (home / "lab.json").write_text('{"name": "storm", "sl')
    made = lab("up", "--no-stack")
    assert made.returncode == 0, made.stderr
    assert ready_nodes() == sorted(NODES)


def test_a_second_start_at_the_same_time_waits_for_the_first() -> None:
    both = [start_up(), start_up()]
    said = [process.communicate(timeout=400)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("waiting for process" in each for each in said) == 1, said
    other = lab("up", "--no-stack", "--compute", "2")
    assert other.returncode == 1
    assert "runs with 1 compute node(s), not 2" in other.stderr
    borrowed = lab("run", "--", "true")
    assert borrowed.returncode == 1
    assert "somebody's already" in borrowed.stderr
    assert ready_nodes() == sorted(NODES)


def test_a_port_in_use_is_named_before_anything_is_made() -> None:
    port, address = NODE_PORTS[7], layout.choose(NAME, 1).loopback
    with socket.create_server((address, port)):
        refused = lab("up", "--no-stack")
    assert refused.returncode == 1
    assert f"Port {port} of {address} is in use" in refused.stderr
    assert remains() == []


def test_addresses_in_use_are_named_before_anything_is_made() -> None:
    bridge = ["ip", "link", "add", "sw-storm", "type", "bridge"]
    subprocess.run(bridge, check=True)
    try:
        address = Lab(NAME, layout.choose(NAME, 1).slot).bridge_address
        subprocess.run(["ip", "address", "add", f"{address}/24", "dev", "sw-storm"], check=True)
        subprocess.run(["ip", "link", "set", "sw-storm", "up"], check=True)
        refused = lab("up", "--no-stack")
    finally:
        subprocess.run(["ip", "link", "delete", "sw-storm"], check=True)
    assert refused.returncode == 1
    assert "sw-storm" in refused.stderr
    assert remains() == []


def test_without_root_it_says_so_before_anything_is_made() -> None:
    refused = lab("up", "--no-stack", prefix=("unshare", "--user"))
    assert refused.returncode == 1
    assert "needs root" in refused.stderr
    assert "CONTEXT=" in refused.stderr
    assert remains() == []


def test_a_full_disk_is_named_before_anything_is_made(tmp_path: Path) -> None:
    small = Path("/mnt") / "slipway-small"
    mount = f'mkdir -p {small} && mount -t tmpfs -o size=64m none {small} && exec "$@"'
    try:
        refused = lab(
            "up", "--no-stack", prefix=("unshare", "--mount", "sh", "-c", mount, "sh"), SLIPWAY_CACHE=str(small)
        )
    finally:
        small.rmdir()
    assert refused.returncode == 1
    assert "the lab needs 10" in refused.stderr
    assert "SLIPWAY_CACHE" in refused.stderr


def test_a_cache_that_nodes_could_not_see_is_refused() -> None:
    refused = lab("up", "--no-stack", SLIPWAY_CACHE="/tmp/slipway-cache")
    assert refused.returncode == 1
    assert "SLIPWAY_CACHE" in refused.stderr
