"""The first process of a lab node. It runs inside the node's own namespaces (network, processes, mounts, host name),
prepares them, and then keeps the node's daemons running as an init system would.

Everything that a node does happens below this process and inside these namespaces: when it is killed, the kernel takes
all of it away at once (daemons, pods, mounts, interfaces), which is a power cut as far as the cluster can tell."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LARGEST_LOG = 64 << 20
CPUS = 16  # that each node promises to Kubernetes, on a machine with fewer
WANTED_BY_KUBELET = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}
MS_REC, MS_BIND, MS_PRIVATE, MS_SHARED = 0x4000, 0x1000, 1 << 18, 1 << 20


@dataclass
class Daemon:
    name: str
    argv: list[str]
    process: subprocess.Popen[bytes] | None = None
    not_before: float = 0.0  # after it ended, it is started again at this time


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode()):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source} on {target}: {os.strerror(number)}")


def prepare_mounts(binds: dict[str, str]) -> None:
    """A /run of its own, as after a boot, and this node's folders where the daemons expect them."""
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    mount("", "/", flags=MS_REC | MS_SHARED)  # pods may ask that their mounts reach the node, and the other way round
    mount("tmpfs", "/run", "tmpfs", options="mode=755")
    for folder, place in binds.items():
        Path(place).mkdir(parents=True, exist_ok=True)
        mount(folder, place, flags=MS_BIND | MS_REC)


def keep_kernel_settings() -> None:
    """Show the kubelet the values that it wants, so that it does not set them: they hold for the whole machine."""
    for setting, value in WANTED_BY_KUBELET.items():
        place = Path("/proc/sys") / setting
        if place.exists():
            stand_in = Path("/run/slipway") / setting.replace("/", ".")
            stand_in.parent.mkdir(exist_ok=True)
            stand_in.write_text(f"{value}\n")
            mount(str(stand_in), str(place), flags=MS_BIND)


def promise_cpus(count: int) -> None:
    """Let the kubelet count that many CPUs: a lab's nodes share one machine, and a compute node must have room for
    several workers with whole CPUs of their own.

    It adds up the CPUs of all NUMA nodes. So it is shown many of these, with one of the machine's CPUs each, and none
    that does not exist, because it hands their numbers on to cgroups. Pods have a /sys of their own, which shows the
    machine as it is."""
    real, place = sorted(os.sched_getaffinity(0)), Path("/sys/devices/system/node")
    if not place.exists():
        return  # a kernel without NUMA: the kubelet counts what there is
    numa = Path("/run/slipway/numa")
    for number in range(max(count, len(real))):
        cpu = f"cpu{real[number % len(real)]}"
        (numa / f"node{number}").mkdir(parents=True)
        (numa / f"node{number}" / cpu).symlink_to(f"/sys/devices/system/cpu/{cpu}")
    mount(str(numa), str(place), flags=MS_BIND)


def prepare_network(address: str, gateway: str, routes: dict[str, str]) -> None:
    """Wait for the cable that the machine plugs in, and configure it."""
    deadline = time.monotonic() + 30
    while subprocess.run(["ip", "link", "show", "eth0"], capture_output=True).returncode:
        if time.monotonic() > deadline:
            raise TimeoutError("no cable was plugged in within 30 s")
        time.sleep(0.02)
    commands = [f"address add {address}/24 dev eth0", "link set lo up", "link set eth0 up"]
    commands += [f"route add default via {gateway}"]
    commands += [f"route add {subnet} via {hop}" for subnet, hop in routes.items()]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(commands).encode(), check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


def start(daemon: Daemon, logs: Path) -> None:
    with (logs / f"{daemon.name}.log").open("ab") as log:
        daemon.process = subprocess.Popen(
            daemon.argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            preexec_fn=unblock_signals,  # safe: this process has one thread
        )


def reap() -> None:
    """Bury every orphan; the daemons among them are noticed by their Popen."""
    while True:
        try:
            seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if seen is None:
            return
        for daemon in daemons:
            if daemon.process and daemon.process.pid == seen.si_pid:
                code = daemon.process.wait()
                print(f"{daemon.name} ended with {code}; starting it again", flush=True)  # noqa: T201 -- the node's log
                daemon.process, daemon.not_before = None, time.monotonic() + 1
                break
        else:
            os.waitpid(seen.si_pid, 0)


daemons: list[Daemon] = []


def main() -> None:
    spec = json.loads(Path(sys.argv[1]).read_text())
    socket.sethostname(spec["hostname"])
    prepare_mounts(spec["binds"])
    keep_kernel_settings()
    promise_cpus(CPUS)
    prepare_network(spec["address"], spec["gateway"], spec["routes"])
    os.environ["PATH"] = spec["path"]
    daemons.extend(Daemon(name, argv) for name, argv in spec["daemons"].items())
    logs = Path("/var/log/slipway")
    logs.mkdir(parents=True, exist_ok=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        for daemon in daemons:
            if daemon.process is None and time.monotonic() >= daemon.not_before:
                start(daemon, logs)
        signal.sigtimedwait({signal.SIGCHLD}, 1.0)
        reap()
        for log in logs.iterdir():
            if log.stat().st_size > LARGEST_LOG:
                os.truncate(log, 0)


if __name__ == "__main__":
    main()
