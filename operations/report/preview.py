"""A preview made for a report: `pulumi preview` with the engine's own log."""

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from operations.problem import Problem
from operations.report.events import parse
from slurm.planning.told import ASKED

# The option for the log is among those that pulumi keeps for debugging.
_ENVIRONMENT = {"PULUMI_DEBUG_COMMANDS": "true", ASKED: "1"}


def preview(stack: str, house: Path, words: list[str]) -> list[dict[str, Any]]:
    """The events, also of a preview that failed. `words` are further options of `pulumi preview`."""
    with TemporaryDirectory() as scratch:
        log = Path(scratch) / "events.jsonl"
        argv = ["preview", "--non-interactive", "--color=never", "--stack", stack, "--event-log", str(log)]
        done = _pulumi([*argv, *words], house)
        events = parse(log.read_text().splitlines(), "the engine's log") if log.exists() else []
    if done.returncode and not any("summaryEvent" in event for event in events):
        # It has failed before the engine could tell why, or in its midst.
        events.append({"diagnosticEvent": {"severity": "error", "message": f"{done.stderr}{done.stdout}"}})
    return events


def selected(house: Path) -> str:
    """The stack that `pulumi` takes where none is named."""
    done = _pulumi(["stack", "--show-name"], house)
    if done.returncode:
        raise Problem(f"No stack is named and none is selected: say `--stack`. {done.stderr.strip()}")
    return done.stdout.strip()


def _pulumi(words: list[str], house: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["pulumi", *words],
            cwd=house,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise Problem("pulumi is not on PATH: install it, or run inside the environment of `lab env`.") from None


def save(events: list[dict[str, Any]], file: Path) -> None:
    """As the engine writes them. Nobody else may read them: they hold more than a report shows."""
    file.touch(mode=0o600)
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
