"""With `cluster.auth: slurm` one key does it: no munge, and nothing that a researcher would notice."""

import re
import subprocess

import pytest

from tests.cluster.changes import change, pods
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until
from tests.cluster.variant.sessions import LOGINS, on


def test_jobs_run_through_srun_and_sbatch(variant: Stack) -> None:
    assert variant.run("srun --ntasks=2 hostname").split() == ["worker-0", "worker-0"]
    assert variant.run("srun id -un") == "researcher"
    job = submitted(variant.run("sbatch --output=batch.txt --wrap 'srun hostname; echo done'"))
    variant.wait_for_job(job)
    assert variant.run("cat batch.txt").split() == ["worker-0", "done"]


def test_an_interactive_shell_has_a_terminal(variant: Stack) -> None:
    argv = [*variant.ssh_argv("-tt"), "srun --pty bash -i"]
    done = subprocess.run(argv, input="tty; hostname; exit\n", capture_output=True, text=True, timeout=120)
    assert re.search(r"/dev/pts/\d", done.stdout), done
    assert "worker-0" in done.stdout, done


def test_sinfo_and_squeue_answer_in_a_session_and_in_a_job(variant: Stack) -> None:
    for where in ("", "srun "):
        assert variant.run(f"{where}sinfo --noheader --partition=main --format=%N") == "worker-0"
        assert variant.run(f"{where}squeue --noheader --states=PD") == ""


def test_a_user_is_who_they_are_and_cannot_act_for_others(variant: Stack) -> None:
    job = submitted(variant.run("sbatch --hold -o /dev/null --wrap true"))
    assert "UserId=researcher(10001)" in variant.run(f"scontrol show job {job}")
    assert variant.ssh("scontrol reconfigure").returncode != 0
    assert variant.ssh("scontrol update NodeName=worker-0 State=DRAIN Reason=mine").returncode != 0
    variant.run(f"scancel {job}")


@pytest.mark.parametrize("where", ["", "srun "])
def test_the_key_is_out_of_reach(variant: Stack, where: str) -> None:
    for place in ("/etc/slurm-keys", "/mnt/keys", "/etc/slurm/slurm.key", "/run/slurm/conf/slurm.key"):
        assert variant.ssh(f"{where}ls {place}").returncode != 0, place


def test_there_is_no_munge(variant: Stack) -> None:
    for name, pod in pods(variant).items():
        containers = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
        assert "munge" not in [each["name"] for each in containers], name
        for volume in pod["spec"].get("volumes", []):
            keys = [item["key"] for item in volume.get("secret", {}).get("items", [])]
            assert "munge.key" not in keys, name
    running = "cat /proc/[0-9]*/comm"
    for pod, container in (("controller-0", "slurmctld"), ("worker-0", "slurmd"), ("login-0", "sshd")):
        assert "munged" not in variant.kubectl("exec", pod, "-c", container, "--", "sh", "-c", running)
    assert variant.run("ls /run/munge") == variant.run("srun ls /run/munge") == ""


def test_after_a_reconfigure_every_session_sees_the_new_configuration(variant: Stack) -> None:
    before = {each: on(variant, each, "grep MaxArraySize= /etc/slurm/slurm.conf") for each in LOGINS}
    assert set(before.values()) == {"MaxArraySize=10001"}
    change(variant, "slurm", extra={"MaxArraySize": 5001})
    variant.up()
    for login in LOGINS:
        # slurmctld sends it to sackd after it has answered whoever asked for the reconfigure.
        until(
            lambda login=login: on(variant, login, "cat /etc/slurm/slurm.conf").count("MaxArraySize=5001") == 1,
            f"{login} to see it",
        )
        assert "5001" in on(variant, login, "scontrol show config | grep MaxArraySize")
    assert "Invalid job array" in variant.ssh("sbatch --array=5001 -o /dev/null --wrap true").stderr
    assert variant.run("srun grep MaxArraySize= /etc/slurm/slurm.conf") == "MaxArraySize=5001"


def test_a_new_key_comes_when_jobs_have_ended_and_loses_none(variant: Stack) -> None:
    before = variant.kubectl("get", "secret", "slurm-keys", "-o", "jsonpath={.data.slurm\\.key}")
    running = submitted(variant.run("sbatch -o /dev/null --wrap 'sleep 15'"))
    waiting = submitted(variant.run("sbatch -o /dev/null --ntasks=2 --wrap 'sleep 1'"))
    variant.wait_for_job(running, "RUNNING")
    change(variant, "secrets", slurm=2)
    assert "drain-first" in variant.pulumi("preview").stdout
    variant.up()
    assert variant.kubectl("get", "secret", "slurm-keys", "-o", "jsonpath={.data.slurm\\.key}") != before
    for job in (running, waiting):
        assert variant.wait_for_job(job)["Restarts"] == "0"
    assert variant.run("srun --partition=everything --nodes=2 hostname | sort").split() == ["burst-0", "worker-0"]
    assert "Reason=" not in variant.run("scontrol show nodes")
    variant.up("--expect-no-changes")


def test_slurmctld_serves_its_numbers(variant: Stack) -> None:
    ask = (
        "exec 3<>/dev/tcp/controller-0.controller.variant.svc.cluster.local/6817;"
        "printf 'GET /metrics/nodes HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"
    )
    assert "slurm_node" in variant.kubectl("exec", "login-0", "-c", "sshd", "--", "bash", "-c", ask)
