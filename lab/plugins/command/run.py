"""Run one command to its end: feed it, collect what it writes, pass lines on as they come, and end it when told to.

Each command is a process group of its own, so that what it has started ends with it.
"""

import contextlib
import errno
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

_GRACE = 10.0  # for a command that is asked to end; it may have something to put back


class CommandFailedError(Exception):
    """The command could not be run or did not succeed; the message is meant for the user."""


@dataclass(eq=False)
class Command:
    """One run of a command line, as the properties of a resource describe it."""

    line: str
    interpreter: list[str] = field(default_factory=lambda: ["/bin/sh", "-c"])
    directory: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    stdin: str = ""
    logging: str = "stdoutAndStderr"
    shown: str = ""  # the line as it may be shown

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._finished = False
        self._ended_because = ""
        self._lock = threading.Lock()
        self._both = bytearray()

    @classmethod
    def of(cls, line: str, shown: str, inputs: dict[str, Any], previous: dict[str, Any]) -> "Command":
        """The command for plain `inputs`; `previous` are the outputs of the run before."""
        variables = dict(inputs.get("environment") or {})
        if inputs.get("addPreviousOutputInEnv", True):
            for name in ("stdout", "stderr"):
                if previous.get(name):
                    variables[f"PULUMI_COMMAND_{name.upper()}"] = previous[name]
        command = cls(line, variables=variables, shown=shown, directory=inputs.get("dir"))
        command.interpreter = inputs.get("interpreter") or command.interpreter
        command.stdin = inputs.get("stdin") or ""
        command.logging = inputs.get("logging") or command.logging
        return command

    def run(self, log: Callable[[str], None], timeout: float = 0) -> tuple[str, str]:
        """(stdout, stderr), each without its last newline; raises CommandFailedError."""
        process = self._start()
        timer = threading.Timer(timeout, self.end, [f"did not end within {timeout:g} s (customTimeouts)"])
        if timeout:
            timer.start()
        stdout, stderr = bytearray(), bytearray()
        workers = [
            threading.Thread(target=self._feed, args=(process.stdin,)),
            threading.Thread(target=self._collect, args=(process.stdout, stdout, self._lines(log, "stdout"))),
            threading.Thread(target=self._collect, args=(process.stderr, stderr, self._lines(log, "stderr"))),
        ]
        for worker in workers:
            worker.start()
        # Also waits for what runs on in the background with its output still open, as the official provider does.
        for worker in workers:
            worker.join()
        code = process.wait()
        timer.cancel()
        self._finish(process)
        if code != 0 or self._ended_because:
            raise self._failed(self._ended_because or _status(code))
        return _text(stdout).removesuffix("\n"), _text(stderr).removesuffix("\n")

    def end(self, reason: str, grace: float = _GRACE) -> None:
        """Ask the command and all it has started to end; after `grace` seconds, end them. Does not wait."""
        with self._lock:
            if self._finished:
                return
            self._ended_because = self._ended_because or reason
            if self._process:
                _signal_group(self._process.pid, signal.SIGTERM)
                timer = threading.Timer(grace, self._kill)
                timer.daemon = True
                timer.start()

    def wait(self, seconds: float) -> None:
        """Wait until the command has ended or the time is over; then end it for good."""
        if self._process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            self._kill()

    def _kill(self) -> None:
        with self._lock:
            if self._process and not self._finished:
                _signal_group(self._process.pid, signal.SIGKILL)

    def _finish(self, process: subprocess.Popen[bytes]) -> None:
        """From here on nobody may signal the group: what a command that went well left behind is to stay."""
        with self._lock:
            self._finished = True
            if self._ended_because:
                _signal_group(process.pid, signal.SIGKILL)

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended_because:
                raise self._failed(self._ended_because)
            try:
                self._process = subprocess.Popen(
                    [*self.interpreter, self.line],
                    cwd=self.directory,
                    env=os.environ | self.variables,
                    stdin=subprocess.PIPE if self.stdin else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    process_group=0,
                )
            except (OSError, ValueError) as error:
                raise self._failed(_reason(error, self.directory)) from error
            return self._process

    def _feed(self, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        # A command that does not want all of it closes its end, which is its own affair.
        with contextlib.suppress(BrokenPipeError), stream:
            stream.write(self.stdin.encode())

    def _collect(self, stream: IO[bytes], into: bytearray, lines: "_Lines") -> None:
        while data := os.read(stream.fileno(), 65536):
            into.extend(data)
            with self._lock:
                self._both.extend(data)
            lines.add(data)
        lines.end()
        stream.close()

    def _lines(self, log: Callable[[str], None], stream: str) -> "_Lines":
        wanted = self.logging in (stream, "stdoutAndStderr")
        return _Lines(log if wanted else lambda line: None)

    def _failed(self, reason: str) -> CommandFailedError:
        line = json.dumps(self.shown or self.line, ensure_ascii=False)
        return CommandFailedError(f"{reason}: running {line}:\n{_text(self._both)}")


class _Lines:
    """Cuts a stream into lines and hands each on as soon as it is whole."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._rest = b""

    def add(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._log(_text(line))

    def end(self) -> None:
        if self._rest:
            self._log(_text(self._rest))


def _text(data: bytes | bytearray) -> str:
    return data.decode(errors="replace")


def _status(code: int) -> str:
    return f"exit status {code}" if code > 0 else f"ended by signal {signal.Signals(-code).name}"


def _reason(error: OSError | ValueError, directory: str | None) -> str:
    if directory and not Path(directory).is_dir():
        return f"the directory {directory} (input `dir`) does not exist"
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return "too much in the command line or the environment: give it by `stdin`, or `addPreviousOutputInEnv: false`"
    return str(error)


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
