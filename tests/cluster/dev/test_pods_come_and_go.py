"""Pods end, nodes go on: the queue survives, and jobs elsewhere do not notice."""

import subprocess
import time

from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until

SECONDS = 30  # from the end of a pod until another of its name has run a job


def replaced(stack: Stack, pod: str) -> None:
    """Delete the pod, and wait until another of the same name is ready."""
    uid = stack.kubectl("get", "pod", pod, "-o", "jsonpath={.metadata.uid}")
    stack.kubectl("delete", "pod", pod, "--wait=false")

    def another() -> bool:
        shown = stack.kubectl("get", "pod", pod, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
        return shown not in ("", uid)

    until(another, f"another {pod}", 120)
    stack.kubectl("wait", "--for=condition=Ready", "--timeout=120s", f"pod/{pod}")


def seconds_without(stack: Stack, pod: str, srun: str) -> float:
    """From the moment when a pod that nobody uses is told to end, until srun works in or through its successor."""
    began = time.monotonic()
    replaced(stack, pod)
    until(lambda: stack.ssh(srun).returncode == 0, f"`{srun}` to work again")
    return time.monotonic() - began


def host_key(stack: Stack) -> str:
    """The key by which a user's ssh knows the login nodes."""
    argv = ["ssh-keyscan", "-T", "10", "-p", str(stack.port), stack.lab.loopback]
    lines = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    [key] = [line for line in lines if not line.startswith("#")]
    return key


def test_a_worker_that_ends_comes_back_and_other_jobs_go_on(dev: Stack) -> None:
    elsewhere = submitted(dev.run("sbatch -o /dev/null --nodelist=worker-0 --wrap 'sleep 20'"))
    dev.wait_for_job(elsewhere, "RUNNING")
    assert seconds_without(dev, "worker-1", "srun --nodelist=worker-1 hostname") < SECONDS
    assert dev.wait_for_job(elsewhere)["Restarts"] == "0"


def test_a_job_on_a_worker_that_ends_may_finish_first(dev: Stack) -> None:
    job = submitted(dev.run("sbatch --output=finish.txt --nodelist=worker-1 --wrap 'sleep 8; echo finished'"))
    dev.wait_for_job(job, "RUNNING")
    replaced(dev, "worker-1")
    assert dev.wait_for_job(job)["Restarts"] == "0"
    assert dev.run("cat finish.txt") == "finished"
    until(lambda: dev.run("sinfo --noheader -n worker-1 -o %t") == "idle", "worker-1 to be idle again")


def test_a_worker_that_is_killed_gives_its_job_back_to_the_queue(dev: Stack) -> None:
    script = 'test -e ~/again.txt || { touch ~/again.txt; sleep 600; }; echo "$SLURM_RESTART_COUNT" > ~/again.txt'
    dev.run("rm -f ~/again.txt")
    job = submitted(dev.run(f"sbatch -o /dev/null --requeue --nodelist=worker-1 --wrap '{script}'"))
    dev.wait_for_job(job, "RUNNING")
    until(lambda: dev.ssh("test -e ~/again.txt").returncode == 0, "the job to have begun")
    dev.kubectl("delete", "pod", "worker-1", "--force", "--grace-period=0")
    assert dev.wait_for_job(job, "PENDING")["Restarts"] == "1"
    # Slurm lets two minutes pass before it runs a job again; nobody wants to wait here.
    dev.run(f"scontrol update JobId={job} StartTime=now")
    dev.wait_for_job(job)
    assert dev.run("cat ~/again.txt") == "1"


def test_the_queue_survives_the_controller_which_is_back_in_time(dev: Stack) -> None:
    running = submitted(dev.run("sbatch -o /dev/null --nodelist=worker-0 --wrap 'sleep 15'"))
    waiting = submitted(dev.run(f"sbatch -o /dev/null --dependency=afterok:{running} --wrap true"))
    dev.wait_for_job(running, "RUNNING")
    assert seconds_without(dev, "controller-0", "srun --nodelist=worker-1 hostname") < SECONDS
    assert dev.wait_for_job(running)["Restarts"] == "0"
    dev.wait_for_job(waiting)


def test_a_login_pod_that_ends_comes_back_as_the_same_host(dev: Stack) -> None:
    before = host_key(dev)
    job = submitted(dev.run("sbatch -o /dev/null --nodelist=worker-0 --wrap 'sleep 5'"))
    assert seconds_without(dev, "login-0", "srun --nodelist=worker-1 hostname") < SECONDS
    assert host_key(dev) == before
    assert dev.wait_for_job(job)["Restarts"] == "0"
