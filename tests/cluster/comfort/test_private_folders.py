"""/tmp, /var/tmp and /dev/shm are the job's own: the same for all its steps, nobody else's, and gone when it ends."""

import re
from collections.abc import Iterator

import pytest

from slurm import places
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until

FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
MARK = " ".join(f"{folder}/mark" for folder in FOLDERS)


@pytest.fixture
def running(comfort: Stack) -> Iterator[str]:
    """A job on worker-0 that has left a mark in each folder, and runs until it is told to end."""
    script = f"touch {MARK}; until [ -e ~/end ]; do sleep 0.2; done; ls {MARK}"
    job = submitted(comfort.run(f"rm -f ~/end; sbatch -w worker-0 -o ~/marked.txt --wrap '{script}'"))
    comfort.wait_for_job(job, "RUNNING")
    until(lambda: comfort.ssh(f"srun --overlap --jobid={job} ls {MARK}").returncode == 0, "the job's mark")
    yield job
    comfort.run(f"touch ~/end; scancel {job}")
    until(lambda: comfort.run("squeue --me --noheader") == "", "the job to be gone")


def test_steps_of_a_job_share_them_and_other_jobs_do_not_see_them(comfort: Stack, running: str) -> None:
    assert comfort.run(f"srun --overlap --jobid={running} ls {MARK}").split() == sorted(MARK.split())
    seen = comfort.run(f"srun -w worker-0 bash -c 'hostname; ls {' '.join(FOLDERS)}; touch {MARK}'")
    assert seen.split() == ["worker-0", *(f"{folder}:" for folder in sorted(FOLDERS))]
    comfort.run("touch ~/end")
    comfort.wait_for_job(running)
    assert comfort.run("cat ~/marked.txt").split() == sorted(MARK.split())


def test_another_users_job_beside_it_cannot_tell(comfort: Stack, running: str) -> None:
    assert comfort.run(f"srun -w worker-0 ls -A {' '.join(FOLDERS)}", user="ada").count("mark") == 0


def test_what_a_job_leaves_is_gone_from_the_node(comfort: Stack, running: str) -> None:
    look = f"find {places.PRIVATE} /mnt/tmp /dev/shm -name mark"
    before = comfort.kubectl("exec", "worker-0", "-c", "slurmd", "--", "sh", "-c", look).split()
    assert len(before) == 2, before  # its /dev/shm is in memory of its own
    comfort.run("touch ~/end")
    comfort.wait_for_job(running)
    until(
        lambda: not comfort.kubectl("exec", "worker-0", "-c", "slurmd", "--", "sh", "-c", look).split(),
        "its files to be removed",
    )


def test_an_allocation_has_them_for_all_that_runs_in_it(comfort: Stack) -> None:
    steps = 'srun touch /tmp/first; srun ls /tmp; srun bash -c "echo more > /tmp/second"; srun cat /tmp/second'
    assert comfort.run(f"salloc --quiet -w worker-0 bash -c '{steps}'").split() == ["first", "more"]


def test_broadcast_files_arrive_in_the_jobs_own(comfort: Stack) -> None:
    comfort.run("echo everywhere > ~/source")
    copy = "sbcast ~/source /tmp/target && srun cat /tmp/target"
    assert comfort.run(f"salloc --quiet -N2 bash -c '{copy}'").split() == ["everywhere"] * 2
    assert sorted(comfort.run("srun -N2 --bcast=/tmp/program /bin/hostname").split()) == ["other-0", "worker-0"]
    assert comfort.ssh("srun -w worker-0 ls /tmp/target").returncode != 0


@pytest.mark.parametrize("option", ["--export=NONE", "--get-user-env"])
def test_jobs_that_ask_for_their_users_environment_have_them_too(comfort: Stack, option: str) -> None:
    script = "touch /tmp/x; ls -A /tmp; echo $HOME"
    job = submitted(comfort.run(f"sbatch {option} -w worker-0 -o ~/asked.txt --wrap '{script}'"))
    comfort.wait_for_job(job)
    assert comfort.run("cat ~/asked.txt").split() == ["x", "/home/researcher"]


def test_they_are_the_users_and_do_not_tell_of_the_pod(comfort: Stack) -> None:
    seen = comfort.run(f"srun -w worker-0 stat -c '%U %a' {' '.join(FOLDERS)}").splitlines()
    assert seen == ["researcher 700", "researcher 700", "root 1777"]
    mounts = comfort.run("srun -w worker-0 cat /proc/self/mounts")
    assert not re.search(r"overlay|kube|/pods/", mounts)


def test_shared_memory_is_as_large_as_the_node_set_says(comfort: Stack) -> None:
    assert comfort.run("srun -w worker-0 df --block-size=1M --output=size /dev/shm").split() == ["1M-blocks", "64"]
    fill = "srun -w worker-0 dd if=/dev/zero of=/dev/shm/x bs=1M count=65"
    assert "No space left on device" in comfort.ssh(fill).stderr
