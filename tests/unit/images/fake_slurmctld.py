"""Plays slurmctld for slurmctld-init: hands over to a successor on SIGHUP, ends on SIGTERM, and says what it does.

fake_slurmctld.py [TRAIT...]
"""

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

TRAITS = set(sys.argv[1:])
GENERATION = int(os.environ.get("GENERATION", "0"))


def say(text: str) -> None:
    os.write(1, f"{GENERATION}: {text}\n".encode())


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def report(process: str, barrier: bool) -> None:
    """As slurmctld does: the message, then a pipe whose other end closes once the message has been read."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.connect(os.environ["NOTIFY_SOCKET"])
        notify.send(f"READY=1\nMAINPID={process}".encode())
        if not barrier:
            return
        reader, writer = os.pipe()
        socket.send_fds(notify, [b"BARRIER=1"], [writer])
        os.close(writer)
        waiting = select.poll()
        waiting.register(reader, 0)
        say("report was read" if waiting.poll(5000) else "nobody read the report")


def hand_over() -> None:
    """Start a successor that is nobody's child, and go once it has come up. Go on if it has not."""
    if "waits" in TRAITS:
        wait_for(Path(os.environ["TMPDIR"], "go").exists)
    reader, writer = os.pipe()
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            os.set_inheritable(writer, True)
            environment = {**os.environ, "GENERATION": str(GENERATION + 1), "PARENT_FD": str(writer)}
            os.execve(sys.executable, [sys.executable, "-IS", __file__, *sys.argv[1:]], environment)  # noqa: S606
        os._exit(0)
    os.close(writer)
    successor = os.read(reader, 20).decode()
    os.waitpid(middle, 0)
    os.close(reader)
    if not successor:
        say("reconfigure failed")
        return
    report(successor, barrier="no-barrier" not in TRAITS)
    say("leaves")
    os._exit(0)


def leave_orphans() -> None:
    """Ten that end in the same moment, when a pipe closes, so that one SIGCHLD may stand for several."""
    reader, writer = os.pipe()
    for _ in range(10):
        middle = os.fork()
        if middle == 0:
            if os.fork() == 0:
                os.close(writer)
                os.read(reader, 1)
            os._exit(3)
        os.waitpid(middle, 0)
    os.close(writer)
    # Process 1, this one, and nobody else: a zombie would still be listed.
    if wait_for(lambda: len(list(Path("/proc").glob("[0-9]*"))) == 2):
        say("no orphans")


def main() -> None:
    if GENERATION and "bad-config" in TRAITS:
        sys.exit(1)
    if GENERATION:
        parent = int(os.environ["PARENT_FD"])
        os.write(parent, str(os.getpid()).encode())
        os.close(parent)
        if "short-lived-successor" in TRAITS:
            os._exit(5)
    else:
        report(str(os.getpid()), barrier=True)
    if "nonsense" in TRAITS:
        for process in ("", "x", "-1", "0", "1", "99999", "9" * 30, "1\nMAINPID"):
            report(process, barrier=True)
    if "orphans" in TRAITS:
        leave_orphans()
    if "chain" in TRAITS and GENERATION < 20:
        hand_over()
    if "chain" in TRAITS:
        sys.exit(42)
    awaited = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    say("up")
    deaf = {"deaf-once": 1, "deaf-first": 1000 if GENERATION == 0 else 0}
    ignored = sum(times for trait, times in deaf.items() if trait in TRAITS)
    while True:
        number = signal.sigwait(awaited)
        say(f"got {signal.Signals(number).name}")
        if number == signal.SIGHUP:
            hand_over()
        elif number == signal.SIGTERM and ignored:
            ignored -= 1
        elif number == signal.SIGTERM:
            sys.exit(0)
        elif number == signal.SIGQUIT:
            sys.exit(7)
        elif number == signal.SIGUSR1:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
