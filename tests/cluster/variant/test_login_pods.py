"""Two login pods are one host to whoever logs in."""

import base64
import subprocess

from tests.cluster.changes import change, uids
from tests.cluster.stacks import Stack
from tests.cluster.variant.sessions import LOGINS, host_key, on


def secret(stack: Stack, name: str) -> str:
    return stack.kubectl("get", "secret", name, "-o", "jsonpath={.data}")


def test_both_pods_have_the_host_key_of_the_stack(variant: Stack) -> None:
    stored = variant.kubectl("get", "secret", "ssh-host-keys", "-o", r"jsonpath={.data.ssh_host_ed25519_key}")
    argv = ["ssh-keygen", "-y", "-f", "/dev/stdin"]
    public = subprocess.run(argv, input=base64.b64decode(stored), check=True, capture_output=True).stdout.decode()
    assert host_key(variant, "login-0") == host_key(variant, "login-1") == " ".join(public.split()[:2])


def test_both_pods_have_the_same_files_and_the_same_queue(variant: Stack) -> None:
    on(variant, "login-0", "echo first > ~/from-0; sbatch --hold --job-name=seen -o /dev/null --wrap true")
    assert on(variant, "login-1", "cat ~/from-0; squeue --noheader --name=seen --format=%j") == "first\nseen"
    on(variant, "login-1", "scancel --name=seen")
    assert on(variant, "login-0", "squeue --noheader --name=seen") == ""
    assert [on(variant, each, "hostname") for each in LOGINS] == list(LOGINS)


def test_jobs_can_be_started_from_each(variant: Stack) -> None:
    assert {on(variant, each, "srun hostname") for each in LOGINS} == {"worker-0"}


def test_a_new_host_key_is_made_on_purpose_and_nothing_else_changes(variant: Stack) -> None:
    job = variant.run("sbatch --parsable -o /dev/null --wrap 'sleep 600'")
    started = variant.wait_for_job(job, "RUNNING")["StartTime"]
    before, keys, running = host_key(variant, "login-0"), secret(variant, "slurm-keys"), uids(variant)
    change(variant, "secrets", hostKeys=2)
    variant.up()
    assert host_key(variant, "login-0") == host_key(variant, "login-1") != before
    assert secret(variant, "slurm-keys") == keys
    replaced = {name for name, uid in uids(variant).items() if running.get(name) != uid}
    assert replaced == set(LOGINS)
    assert variant.run("srun hostname") == "worker-0"
    assert variant.wait_for_job(job, "RUNNING")["StartTime"] == started
    variant.run(f"scancel {job}")
