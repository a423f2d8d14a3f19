"""A daemon's error output is heard when it fails, and only then."""

import signal
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "images" / "worker" / "last-words"


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, "sh", "-c", script], capture_output=True, text=True, timeout=20)


def test_a_daemon_that_fails_is_heard() -> None:
    done = run("echo logged; echo 'no controller' >&2; exit 3")
    assert (done.returncode, done.stdout) == (3, "logged\n")
    assert done.stderr == "sh ended with 3. Its last words:\nno controller\n"


def test_only_its_last_words_are_kept() -> None:
    said = run("seq 100 >&2; exit 1").stderr.splitlines()
    assert said[1:] == [str(number) for number in range(81, 101)]


def test_a_daemon_that_ends_well_is_not_heard() -> None:
    done = run("echo logged; echo 'the same again' >&2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "logged\n", "")


@pytest.mark.parametrize(("status", "said"), [(0, ""), (4, "sh ended with 4. Its last words:\nended\n")])
def test_a_signal_reaches_the_daemon_which_ends_in_its_own_time(status: int, said: str) -> None:
    daemon = f"trap 'sleep 0.5; echo ended >&2; exit {status}' TERM; echo up; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [SCRIPT, "sh", "-c", daemon], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (status, said)


def test_what_it_runs_ignores_no_signal() -> None:
    """Jobs inherit what slurmd ignores: Ctrl-C and `scancel --signal=INT` would do nothing to them."""
    done = subprocess.run([SCRIPT, "grep", "SigIgn", "/proc/self/status"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1], 16) & (1 << (signal.SIGINT - 1) | 1 << (signal.SIGQUIT - 1)) == 0
