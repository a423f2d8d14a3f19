"""All that is measured, one after the other, with nothing else in the lab: `make bench`.

What each bench prints is kept as it is in docs/benchmarks/results.md, below a table of what was found and what was
asked for, with the machine that it was measured on. It takes about three quarters of an hour.
"""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "benchmarks"
BENCHES = {
    "Rendering": "render.py",
    "Planning": "plan.py",
    "The policy pack": "policy.py",
    "The first job": "first_job.py",
    "A step": "srun.py",
    "Jobs per second": "throughput.py --rounds 5",
    "From one config to the next": "change.py --runs 10 --waits 5",
    "Growth": f"growth.py --pictures {FOLDER.relative_to(ROOT)}",
    "A day of bad luck": "soak.py",
}
VERDICT = re.compile(r"^(?P<what>.+?):? (?P<found>[0-9.]+)( s)?, (?P<not>NOT )?within (?P<bar>[^;]+)", re.MULTILINE)


def machine() -> str:
    model = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    memory = int(model[1]) / (1 << 20) if model else 0
    release = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return f"{os.cpu_count()} cores and {memory:.0f} GiB ({release}, Linux {platform.release()})"


def run(title: str, command: str) -> tuple[str, int]:
    """What a bench prints, and how it ended. Its progress is shown."""
    sys.stderr.write(f"== {title}: bench/{command}\n")
    argv = [sys.executable, *f"bench/{command}".split()]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    sys.stderr.write(done.stdout)
    return done.stdout, done.returncode


def page(found: dict[str, tuple[str, int]]) -> str:
    today = datetime.datetime.now(datetime.UTC).date()
    lines = [
        "# Results",
        "",
        f"All of `make bench` in one run, on {today}, on {machine()}.",
        "",
        "| bench | what | found | asked for |",
        "|---|---|---|---|",
    ]
    for title, (said, _) in found.items():
        for each in VERDICT.finditer(said):
            missed = " (missed)" if each["not"] else ""
            lines.append(f"| {title} | {each['what'].strip()} | {each['found']} | {each['bar'].strip()}{missed} |")
    for title, (said, _) in found.items():
        lines += ["", f"## {title}", "", f"`bench/{BENCHES[title]}`", "", "```", said.strip(), "```"]
        if title == "Growth":
            lines += [f"\n![{each.stem}]({each.name})" for each in sorted(FOLDER.glob("growth-*.svg"))]
    return "\n".join(lines) + "\n"


def main() -> int:
    found = {title: run(title, command) for title, command in BENCHES.items()}
    (FOLDER / "results.md").write_text(page(found))
    bad = [title for title, (_, code) in found.items() if code]
    sys.stderr.write(f"docs/benchmarks/results.md is written{'; missed: ' + ', '.join(bad) if bad else ''}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
