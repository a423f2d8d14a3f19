"""Run a program, and turn its failure into a message that holds what it said last."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lab import paths
from lab.problem import Problem

LAST_LINES = 15


def own_path() -> str:
    """PATH without what a lab put there (`lab env`)."""
    folders = os.environ.get("PATH", "").split(":")
    return ":".join(folder for folder in folders if not Path(folder).is_relative_to(paths.labs()))


def which(program: str) -> str | None:
    """The machine's own program of that name."""
    return shutil.which(program, path=own_path())


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    on_line: Callable[[str], None] | None = None,
    way_out: str = "",
) -> str:
    """Standard output of `argv`. With `on_line`, each line of output and errors is handed over as it comes."""
    full = {**os.environ, **(env or {})}
    if not shutil.which(argv[0], path=full.get("PATH")):
        raise Problem(f"`{argv[0]}` is not installed, or not on PATH." + (f"\n  {way_out}" if way_out else ""))
    if on_line:
        return _follow(argv, cwd, full, on_line, way_out)
    done = subprocess.run(argv, cwd=cwd, env=full, input=stdin, capture_output=True, text=True)
    if done.returncode:
        raise failure(argv, done.returncode, done.stderr + done.stdout, way_out)
    return done.stdout


def _follow(
    argv: Sequence[str | Path],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    on_line: Callable[[str], None],
    way_out: str,
) -> str:
    lines: list[str] = []
    with subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout  # noqa: S101 -- asked for above
        try:
            for line in process.stdout:
                lines.append(line)
                on_line(line.rstrip())
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise failure(argv, process.returncode, "".join(lines), way_out)
    return "".join(lines)


def attend(argv: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> int:
    """Run a program that speaks for itself, and let it end in its own way when this one is told to stop."""
    full = {**os.environ, **(env or {})}
    with subprocess.Popen(argv, cwd=cwd, env=full, stdin=subprocess.DEVNULL) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # A terminal has told the program as well; whoever signals this process alone has not.
                if not sys.stderr.isatty():
                    process.send_signal(signal.SIGINT)
            except BaseException:
                process.terminate()
                process.wait()
                raise


def failure(argv: Sequence[str | Path], code: int, said: str, way_out: str = "") -> Problem:
    tail = "\n".join("    " + line for line in said.strip().splitlines()[-LAST_LINES:])
    ended = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
    message = f"`{' '.join(map(str, argv))[:300]}` {ended}" + (f":\n{tail}" if tail else "")
    return Problem(message + (f"\n  {way_out}" if way_out else ""))
