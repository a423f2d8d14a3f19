"""Keys that a researcher presses while something runs: a real terminal, from ssh to the job."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.stacks import Stack, until

CTRL_C = b"\x03"


class Terminal:
    """A session with a terminal of its own, in which a command runs."""

    def __init__(self, stack: Stack, command: str, screen: Path) -> None:
        self._screen = screen
        argv = [*stack.ssh_argv("-tt"), command]
        with screen.open("wb") as output:
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=output, stderr=output)

    def press(self, keys: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(keys)
        self.process.stdin.flush()

    @property
    def shows(self) -> bytes:
        return self._screen.read_bytes()


@contextmanager
def terminal(stack: Stack, command: str, folder: Path) -> Iterator[Terminal]:
    session = Terminal(stack, command, folder / "screen")
    try:
        yield session
    finally:
        session.process.kill()
        session.process.wait()


def test_ctrl_c_twice_ends_what_srun_runs(dev: Stack, tmp_path: Path) -> None:
    running = "squeue --noheader --name=interrupted --states=R --format=%A"
    with terminal(dev, "srun --job-name=interrupted sleep 600", tmp_path) as session:
        job = until(lambda: dev.run(running), "the job to run")
        session.press(CTRL_C)
        until(lambda: b"one more within 1 sec to abort" in session.shows, "srun to ask whether that is meant")
        for _ in range(2):  # the question may have been a while on its way
            session.press(CTRL_C)
            time.sleep(0.2)
        assert session.process.wait(timeout=60) != 0
    dev.wait_for_job(job, "CANCELLED", "FAILED")


def test_ctrl_c_in_an_interactive_shell_ends_the_program_and_not_the_job(dev: Stack, tmp_path: Path) -> None:
    with terminal(dev, "srun --pty bash -i", tmp_path) as session:
        session.press(b"echo beg''in; sleep 600\n")
        until(lambda: b"begin" in session.shows, "the shell to answer")
        time.sleep(0.5)  # for bash to have started it
        session.press(CTRL_C)
        until(lambda: session.shows.endswith(b"$ "), "the shell to be back")
        session.press(b"echo $? on $(hostname); exit\n")
        assert session.process.wait(timeout=60) == 0
        assert re.search(rb"130 on worker-\d", session.shows), session.shows
