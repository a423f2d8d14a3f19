"""The limits of users' processes: what is asked for where it can be had, and else as much as there is."""

import os
import resource
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "images" / "common" / "slipway" / "limits"
MOST_FILES = int(Path("/proc/sys/fs/nr_open").read_text())  # what nobody may exceed, whatever their rights


def run(limits: str, shell: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "LIMITS": limits}
    return subprocess.run([SCRIPT, "bash", "-c", shell], env=env, capture_output=True, text=True, check=True)


def test_they_hold_for_what_is_started() -> None:
    done = run("nofile=700 core=0 stack=16777216", "ulimit -Sn; ulimit -Hn; ulimit -Hc; ulimit -Ss; ulimit -Hs")
    assert done.stdout.split() == ["700", "700", "0", "16384", "16384"]
    assert not done.stderr


def test_one_that_cannot_be_had_is_as_high_as_it_may_be_and_that_is_said() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = run(f"nofile={MOST_FILES + 1} core=0", "ulimit -Sn; ulimit -Hc")
    assert done.stdout.split() == [str(hard), "0"]
    assert f"nofile stays at {hard}, and {MOST_FILES + 1} was asked for" in done.stderr


def test_without_any_nothing_changes() -> None:
    assert run("", "ulimit -a").stdout == subprocess.check_output(["bash", "-c", "ulimit -a"], text=True)
