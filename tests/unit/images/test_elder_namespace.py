"""slurmd gets a mount namespace that counts as older than any of a job's, whichever CPU that is made on."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "images" / "worker" / "elder-namespace"

# A kernel that gives each CPU's namespaces a number of their own, and has them bound only where the number is lower.
PROGRAMS = {
    "taskset": """
[ "$2" != --pid ] || { echo "pid $3's current affinity list: 0-1,3"; exit 0; }
export CPU=$2
shift 2
exec "$@"
""",
    "unshare": """
eval "NUMBER=\\$CPU_$CPU"
export NUMBER
while case $1 in --propagation) shift 2 ;; --*) shift ;; *) false ;; esac; do :; done
exec "$@"
""",
    "mount": """
[ -z "${NEVER:-}" ] || exit 1
of_process() { tr '\\0' '\\n' < "${1%/ns/mnt}/environ" | sed -n s/^NUMBER=//p; }
until its=$(of_process "$2") && [ -n "$its" ]; do :; done  # it is just becoming another program
[ "$NUMBER" -le "$its" ]
""",
    "umount": "exit 0",
}


def run(folder: Path, number: int, **cpus: int | str) -> subprocess.CompletedProcess[str]:
    for name, text in PROGRAMS.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    env = {**os.environ, **{key: str(value) for key, value in cpus.items()}, "NUMBER": str(number)}
    env |= {"PATH": f"{folder}:{os.environ['PATH']}", "PLACE": str(folder / "place")}
    argv = [SCRIPT, "sh", "-c", 'echo "$NUMBER $1 ${ELDER_TRIES:-}"', "sh", "a word"]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("number", "cpus", "found"),
    [
        (5, (50, 60, 70), 5),
        (55, (50, 60, 70), 50),
        (65, (50, 60, 40), 40),
        (99, (90, 60, 70), 60),
    ],
)
def test_it_moves_until_no_cpu_makes_an_older_one(
    tmp_path: Path, number: int, cpus: tuple[int, int, int], found: int
) -> None:
    done = run(tmp_path, number, CPU_0=cpus[0], CPU_1=cpus[1], CPU_3=cpus[2])
    assert done.stdout == f"{found} a word \n", done.stderr
    assert not done.stderr


def test_where_nothing_helps_slurmd_starts_all_the_same_and_it_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, 5, CPU_0=1, CPU_1=2, CPU_3=3, NEVER="yes")
    assert done.stdout.endswith(" a word \n")
    assert "jobs will have no folders of their own" in done.stderr
