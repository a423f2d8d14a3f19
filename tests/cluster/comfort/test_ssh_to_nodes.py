"""`ssh worker-0` on the login node: into one's own job, for as long as it runs."""

import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until


@pytest.fixture
def job(comfort: Stack) -> Iterator[str]:
    script = "touch /tmp/of-the-job; sleep 600"
    number = submitted(comfort.run(f"sbatch -w worker-0 -o /dev/null --wrap '{script}'"))
    comfort.wait_for_job(number, "RUNNING")
    until(lambda: comfort.ssh(f"srun --overlap --jobid={number} ls /tmp/of-the-job").returncode == 0, "the job's file")
    yield number
    comfort.run(f"scancel {number}")
    until(lambda: comfort.run("squeue --me --noheader") == "", "the job to be gone")


def test_without_a_job_there_is_no_way_in(comfort: Stack) -> None:
    for node in ("worker-0", "other-0"):
        refused = comfort.ssh(f"ssh {node} hostname")
        assert refused.returncode == 255
        assert f"Access denied: you have no active jobs on {node}" in refused.stderr
        assert not refused.stdout


def test_with_a_job_one_is_in_it(comfort: Stack, job: str) -> None:
    look = "hostname; whoami; pwd; echo \\$SLURM_JOB_ID; ls /tmp; ulimit -n"
    seen = comfort.run(f'ssh worker-0 "{look}"').split()
    assert seen == ["worker-0", "researcher", "/home/researcher", job, "of-the-job", "4096"]
    steps = comfort.run(f"ssh worker-0 'scontrol show step {job} | grep -o Name=.*'")
    assert "Name=ssh" in steps
    assert comfort.ssh("ssh worker-0 exit 7").returncode == 7


def test_only_on_the_nodes_of_the_job_and_only_for_its_user(comfort: Stack, job: str) -> None:
    assert "Access denied" in comfort.ssh("ssh other-0 hostname").stderr
    refused = comfort.ssh("ssh worker-0 hostname", user="ada")
    assert refused.returncode == 255
    assert "Access denied: you have no active jobs on worker-0" in refused.stderr
    other = comfort.ssh("ssh ada@worker-0 hostname")
    assert other.returncode == 255
    assert "Permission denied" in other.stderr


def test_root_is_nobody_there(comfort: Stack, job: str) -> None:
    refused = comfort.ssh("ssh root@worker-0 id")
    assert refused.returncode == 255
    assert "uid=0" not in refused.stdout
    listening = comfort.kubectl("exec", "worker-0", "-c", "slurmd", "--", "cat", "/proc/net/tcp")
    assert ":0016 00000000:0000 0A" not in listening, "nothing listens at port 22"


def test_it_has_a_terminal_and_copies_files(comfort: Stack, job: str) -> None:
    argv = [*comfort.ssh_argv("-tt"), "ssh -tt worker-0"]
    done = subprocess.run(argv, input="tty; hostname\nexit\n", capture_output=True, text=True, timeout=120)
    assert "/dev/pts/" in done.stdout
    assert "researcher@worker-0:~$" in done.stdout
    comfort.run("head -c 3000000 /dev/urandom > ~/large; scp -q ~/large worker-0:/tmp/large")
    assert comfort.run("ssh worker-0 cat /tmp/large | cmp - ~/large && echo same") == "same"


def test_a_session_ends_with_the_job(comfort: Stack, job: str) -> None:
    argv = [*comfort.ssh_argv(), "ssh worker-0 'trap : HUP; echo in; sleep 300'"]
    session = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert session.stdout
    assert session.stdout.readline() == "in\n"
    comfort.run(f"scancel {job}")
    began = time.monotonic()
    assert session.wait(timeout=90) != 0
    assert time.monotonic() - began < 60
    left = "grep -l '^sleep.300' /proc/[0-9]*/cmdline | wc -l"
    gone = comfort.kubectl("exec", "worker-0", "-c", "slurmd", "--", "sh", "-c", left)
    assert gone.strip() == "0"
