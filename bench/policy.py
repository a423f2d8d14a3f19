"""What the policy pack adds to a preview of the dev stack: `python bench/policy.py [--rounds N]`.

The same preview in turns: without a pack, with a pack of one rule that looks at nothing, and with the pack. So the
second shows what any pack costs (another language host, another Python, two questions for each resource), and the third
what the rules themselves do. No cluster is needed; `pulumi` must be on PATH (`eval "$(uv run lab env)"`).
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lab import paths
from lab.plugins.install import install
from tests.engine.policies.stack import PACK, Stack

BAR = 2.0  # seconds that the pack may add, on two cores
_EMPTY = """
from pulumi_policy import PolicyPack, ResourceValidationPolicy

PolicyPack("empty", [ResourceValidationPolicy("nothing", "Looks at nothing.", lambda args, report: None)])
"""


def empty_pack(folder: Path) -> Path:
    folder.mkdir()
    python = paths.CHECKOUT / ".venv"
    (folder / "PulumiPolicy.yaml").write_text(f"runtime: {{name: python, options: {{virtualenv: {python}}}}}\n")
    (folder / "__main__.py").write_text(_EMPTY)
    return folder


def measure(rounds: int, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """(seconds, CPU seconds) of each preview, by side."""
    stack = Stack(folder)
    install(stack.home, Path(sys.executable))
    stack.create_stack()
    stack.checked()  # writes the stack's files, and warms what is cached
    sides: dict[str, list[str]] = {
        "without a pack": [],
        "a pack that looks at nothing": ["--policy-pack", str(empty_pack(folder / "empty"))],
        "the pack": ["--policy-pack", str(PACK)],
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for number in range(rounds):
        # Each round in another order, so that nobody always comes after the same one.
        names = [*sides][number % len(sides) :] + [*sides][: number % len(sides)]
        for name in names:
            began, used = time.monotonic(), _cpu()
            stack.preview(*sides[name])
            found[name].append((time.monotonic() - began, _cpu() - used))
    return found


def _cpu() -> float:
    """What all that has ended below this process has used: steadier than the clock on a machine that others use."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        found = measure(rounds, Path(folder))
    lines = [f"{'':<30}{'runs':>5}{'median':>9}{'best':>9}{'worst':>9}{'CPU':>9}  s for a preview of the dev stack"]
    for name, runs in found.items():
        times = [seconds for seconds, _ in runs]
        median, cpu = statistics.median(times), statistics.median(used for _, used in runs)
        lines.append(f"{name:<30}{len(runs):>5}{median:>9.2f}{min(times):>9.2f}{max(times):>9.2f}{cpu:>9.2f}")
    pairs = zip(found["the pack"], found["without a pack"], strict=True)
    added = statistics.median(after - before for (after, _), (before, _) in pairs)  # of the same round, and weather
    within = added <= BAR
    lines.append(
        f"the pack adds {added:.2f} s, {'within' if within else 'NOT within'} {BAR:g}; load {os.getloadavg()[0]:.1f}"
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
