"""The controller's process 1, in a process namespace of its own, over a daemon that behaves as slurmctld does."""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INIT = [sys.executable, "-IS", str(HERE.parents[2] / "images" / "controller" / "slurmctld-init")]
FAKE = [sys.executable, "-IS", str(HERE / "fake_slurmctld.py")]

AS_ROOT = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
NAMESPACE = ["unshare", *AS_ROOT, "--pid", "--fork", "--kill-child", "--mount-proc"]

DEADLINE = 20.0


class Container:
    """A running init. What its daemon says arrives line by line."""

    def __init__(self, command: list[str], tmp_path: Path) -> None:
        self.process = subprocess.Popen(
            [*NAMESPACE, *INIT, *command],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put("(end of output)")

    def says(self, *expected: str) -> None:
        """The next lines are these, in any order, as two daemons may speak at a time."""
        assert sorted(self._lines.get(timeout=DEADLINE) for _ in expected) == sorted(expected)

    def send(self, number: signal.Signals) -> None:
        """To process 1, as the kubelet does."""
        starter = self.process.pid
        init = Path(f"/proc/{starter}/task/{starter}/children").read_text().split()[0]
        os.kill(int(init), number)

    def ends(self) -> int:
        return self.process.wait(DEADLINE)

    def complaints(self) -> str:
        assert self.process.stderr
        return self.process.stderr.read()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


Start = Callable[..., Container]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Container] = []

    def run(*traits: str, command: list[str] | None = None) -> Container:
        running.append(Container(command or [*FAKE, *traits], tmp_path))
        return running[-1]

    yield run
    for container in running:
        container.close()


@pytest.fixture
def up(start: Start) -> Start:
    """Start a daemon, and wait until it is up."""

    def run(*traits: str) -> Container:
        container = start(*traits)
        container.says("0: report was read")
        container.says("0: up")
        return container

    return run


def test_a_reconfigure_replaces_the_daemon_and_the_container_goes_on(up: Start) -> None:
    container = up()
    for generation in range(3):
        container.send(signal.SIGHUP)
        container.says(f"{generation}: got SIGHUP")
        # The old one leaves only when the report of the new one was read, as with systemd; else it would wait 5 s.
        container.says(f"{generation}: report was read", f"{generation}: leaves", f"{generation + 1}: up")
    container.send(signal.SIGTERM)
    container.says("3: got SIGTERM")
    assert container.ends() == 0
    assert container.complaints() == ""


def test_a_failed_reconfigure_leaves_the_old_daemon_in_charge(up: Start) -> None:
    container = up("bad-config")
    container.send(signal.SIGHUP)
    container.says("0: got SIGHUP")
    container.says("0: reconfigure failed")
    container.send(signal.SIGUSR2)
    container.says("0: got SIGUSR2")
    container.send(signal.SIGQUIT)
    container.says("0: got SIGQUIT")
    assert container.ends() == 7


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGUSR2])
def test_signals_reach_the_daemon(up: Start, number: signal.Signals) -> None:
    container = up("bad-config")
    container.send(number)
    container.says(f"0: got {number.name}")


@pytest.mark.parametrize("code", [0, 1, 42, 255])
def test_the_container_ends_with_the_daemons_exit_code(start: Start, code: int) -> None:
    assert start(command=["sh", "-c", f"exit {code}"]).ends() == code


def test_the_container_ends_with_128_and_the_signal_that_killed_the_daemon(up: Start) -> None:
    container = up()
    container.send(signal.SIGUSR1)
    container.says("0: got SIGUSR1")
    assert container.ends() == 128 + signal.SIGKILL


def test_twenty_successors_in_a_row_are_followed(start: Start) -> None:
    """None waits until it was heard, so that a daemon often has ended when its report is read."""
    container = start("chain", "no-barrier")
    assert container.ends() == 42
    assert container.complaints() == ""


def test_a_daemon_that_ended_before_its_report_was_read_is_followed(up: Start, tmp_path: Path) -> None:
    container = up("waits", "no-barrier")
    container.send(signal.SIGHUP)
    container.says("0: got SIGHUP")
    container.send(signal.SIGSTOP)
    (tmp_path / "go").touch()
    container.says("0: leaves", "1: up")
    container.send(signal.SIGCONT)
    container.send(signal.SIGUSR2)
    container.says("1: got SIGUSR2")


def test_a_successor_that_ended_before_its_report_was_read_ends_the_container(up: Start, tmp_path: Path) -> None:
    container = up("waits", "no-barrier", "short-lived-successor")
    container.send(signal.SIGHUP)
    container.says("0: got SIGHUP")
    container.send(signal.SIGSTOP)
    (tmp_path / "go").touch()
    container.says("0: leaves")
    container.send(signal.SIGCONT)
    assert container.ends() == 5


def test_a_stop_that_is_lost_in_a_reconfigure_reaches_the_successor(up: Start) -> None:
    container = up("deaf-first", "no-barrier")
    container.send(signal.SIGTERM)
    container.says("0: got SIGTERM")
    container.send(signal.SIGHUP)
    container.says("0: got SIGHUP")
    container.says("0: leaves", "1: up", "1: got SIGTERM")
    assert container.ends() == 0


def test_a_stop_that_the_daemon_forgot_is_repeated(up: Start) -> None:
    container = up("deaf-once")
    container.send(signal.SIGTERM)
    container.says("0: got SIGTERM")
    container.says("0: got SIGTERM")
    assert container.ends() == 0


def test_orphans_are_reaped(start: Start) -> None:
    container = start("orphans")
    container.says("0: report was read")
    container.says("0: no orphans")
    container.says("0: up")


def test_nonsense_in_a_report_is_survived(start: Start) -> None:
    container = start("nonsense")
    for _ in range(9):
        container.says("0: report was read")
    container.says("0: up")
    container.send(signal.SIGTERM)
    container.says("0: got SIGTERM")
    assert container.ends() == 0
    assert "process 99999 was reported and is not there" in container.complaints()


def test_the_daemon_writes_to_the_containers_output_and_inherits_no_ignored_signal(start: Start) -> None:
    ignores = "$(sed -n 's/SigIgn:.//p' /proc/self/status)"
    python_does = sum(1 << number - 1 for number in (signal.SIGPIPE, signal.SIGXFSZ))
    container = start(command=["sh", "-c", f"echo $((0x{ignores} & {python_does})); echo to stderr >&2"])
    container.says("0")
    assert container.ends() == 0
    assert container.complaints() == "to stderr\n"


def test_a_socket_left_by_an_earlier_container_is_no_obstacle(start: Start, tmp_path: Path) -> None:
    for _ in range(2):
        assert start(command=["sh", "-c", 'test -S "$NOTIFY_SOCKET"']).ends() == 0
    assert (tmp_path / "slurmctld.notify").exists()


def test_a_program_that_is_not_there_is_named(start: Start) -> None:
    container = start(command=["no-such-slurmctld", "--systemd"])
    assert container.ends() == 1
    assert "slurmctld-init: cannot run no-such-slurmctld" in container.complaints()


@pytest.mark.parametrize(("command", "shown"), [(["true"], "not process 1"), ([], "what to run?")])
def test_a_wrong_way_to_start_it_is_explained(command: list[str], shown: str) -> None:
    done = subprocess.run([*INIT, *command], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 1
    assert shown in done.stderr
