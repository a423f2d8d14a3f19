"""What the benches of a running cluster share: the dev stack, ssh sessions that measure, and the table of two sides.

They need a lab: `lab --name bench run -- python bench/srun.py`, or `eval "$(lab env)"` and then `python bench/srun.py`.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lab import layout
from tests.cluster.stacks import Stack


def dev(folder: str, **changes: Any) -> Stack:
    """The dev stack on the lab that SLIPWAY_LAB names, with whole keys of its file replaced."""
    lab = layout.find(os.environ.get("SLIPWAY_LAB", ""))
    if not lab:
        sys.exit("There is no lab. Start one for this bench: `.venv/bin/lab --name bench run -- python bench/…`.")
    return Stack.create(lab, "dev", Path(folder), **changes)


@dataclass(frozen=True)
class Login:
    """Where a researcher logs in."""

    address: str
    port: int = 22
    user: str = "researcher"

    def measure(self, program: str, *words: str, seconds: float = 900) -> Any:
        """Run a Python program in one session, so that ssh is not measured, and return the JSON that it prints."""
        argv = [
            *("ssh", "-i", os.environ["SLIPWAY_LAB_SSH_KEY"], "-p", str(self.port), f"{self.user}@{self.address}"),
            *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"),
            *("-o", "BatchMode=yes", "-o", "ConnectTimeout=20"),
            f"bash -lc {shlex.quote(shlex.join(['python3', '-', *words]))}",
        ]
        done = subprocess.run(argv, input=program, capture_output=True, text=True, timeout=seconds)
        if done.returncode:
            raise RuntimeError(f"in the session at {self.address}:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def table(unit: str, sides: Mapping[str, Sequence[float]], more_is_better: bool = False) -> list[str]:
    """One line for each side. The best tells how much of the rest is the machine's noise."""
    width = max(map(len, sides))
    lines = [f"{'':{width}} {'runs':>5} {'median':>9} {'best':>9} {'worst':>9}  {unit}"]
    for name, samples in sides.items():
        best, *_, worst = sorted([*samples, samples[0]], reverse=more_is_better)
        middle = statistics.median(samples)
        lines.append(f"{name:{width}} {len(samples):>5} {middle:>9.3f} {best:>9.3f} {worst:>9.3f}")
    return lines


def ratio(these: Sequence[float], those: Sequence[float]) -> float:
    return statistics.median(these) / statistics.median(those)


def verdict(what: str, found: float, within: bool, bar: str) -> str:
    return (
        f"{what}: {found:.3f}, {'within' if within else 'NOT within'} {bar}; load {os.getloadavg()[0]:.1f} at the end"
    )
