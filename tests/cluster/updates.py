"""`pulumi up` that is watched while it runs, and may not be let to end."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lab import paths
from tests.cluster.stacks import Done, Stack, until


class Update:
    """A running `pulumi up`, and what it has said so far."""

    def __init__(self, stack: Stack, *words: str, **environment: str) -> None:
        argv = ["pulumi", "up", "--yes", "--skip-preview", "--stack", stack.name, "--config-file", str(stack.file)]
        self.process = subprocess.Popen(
            [*argv, "--non-interactive", *words],
            cwd=paths.CHECKOUT,
            env={**os.environ, **environment},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.said += line

    def until_it_says(self, words: str, seconds: float = 120) -> None:
        def look() -> bool:
            assert words in self.said or self.process.poll() is None, f"it ended without {words!r}:\n{self.said}"
            return words in self.said

        until(look, f"the update to say {words!r}", seconds)

    def end(self, seconds: float = 400) -> int:
        code = self.process.wait(seconds)
        self._reader.join(30)
        return code


@contextmanager
def updating(stack: Stack, *words: str, **environment: str) -> Iterator[Update]:
    update = Update(stack, *words, **environment)
    try:
        yield update
    finally:
        if update.process.poll() is None:
            update.process.terminate()
            update.process.wait(60)


def slipway(stack: Stack, *words: str, seconds: float = 500) -> Done:
    """`slipway COMMAND` for this stack."""
    command, *rest = words
    argv = [str(paths.CHECKOUT / ".venv" / "bin" / "slipway"), command]
    argv += ["--stack", stack.name, "--file", str(stack.file), *rest]
    return subprocess.run(argv, cwd=paths.CHECKOUT, capture_output=True, text=True, timeout=seconds, env=os.environ)


def mended(stack: Stack) -> str:
    """`slipway up`, which must succeed; and then there is nothing left to do, and nothing left over."""
    done = slipway(stack, "up", "--yes", "--skip-preview", "--non-interactive")
    assert done.returncode == 0, done.stdout + done.stderr
    settled(stack)
    return done.stdout + done.stderr


def settled(stack: Stack) -> None:
    stack.up("--expect-no-changes")
    drift = slipway(stack, "drift")
    assert drift.returncode == 0, drift.stdout + drift.stderr
    nodes = stack.admin("scontrol", "show", "nodes", "--oneliner")
    assert "Reason=slipway" not in nodes, nodes
