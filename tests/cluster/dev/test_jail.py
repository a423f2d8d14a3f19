"""Inside the shared root there is no way to tell, and no way out."""

import re

import pytest

from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack

WHERE = ["", "srun "]  # in a session, and in a job
FIRST_PROCESS = ("environ", "mountinfo", "cgroup", "cmdline")


# Words that only the machinery around the shared root uses.
TELLING = re.compile(r"kube|k8s|containerd|cri-o|docker|overlay|/pods?/|/snapshots?/", re.IGNORECASE)
# Of a folder of a disk that is mounted somewhere, the kernel tells the path on that disk, in one field of mountinfo.
FOLDERS_OF_A_DISK = {"/", "/tmp", "/var/spool/slurmd"}


@pytest.mark.parametrize("where", WHERE)
def test_mounts_show_the_shared_root_and_not_the_pod(dev: Stack, where: str) -> None:
    mounts = [line.split() for line in dev.run(where + "cat /proc/self/mountinfo").splitlines()]
    points = [mount[4] for mount in mounts]
    assert "/" in points
    assert "/proc" in points
    assert not [point for point in points if point.startswith("/mnt")]
    for mount in mounts:
        source, point = mount[3:5]
        assert point in FOLDERS_OF_A_DISK or not TELLING.search(source), mount
        assert not TELLING.search(" ".join([*mount[:3], *mount[4:]])), mount
    assert not TELLING.search(dev.run(where + "cat /proc/self/mounts"))
    assert not TELLING.search(dev.run(where + "df --all --output=source,target"))
    assert dev.run(where + "cat /.slipway/populated")
    assert dev.ssh(where + "ls /mnt/jail").returncode != 0


@pytest.mark.parametrize("where", ["", "srun ", "sbatch --wait --output=groups.txt --wrap "])
def test_control_groups_begin_at_the_node(dev: Stack, where: str) -> None:
    """But for nodes with version 2 alone, of which the lab has none: docs/cluster.md says what is seen there."""
    if where.startswith("sbatch"):
        dev.run(f"{where}'cat /proc/self/cgroup'")
    groups = dev.run("cat ~/groups.txt" if where.startswith("sbatch") else f"{where}cat /proc/self/cgroup")
    assert {line.split(":", 2)[2] for line in groups.splitlines()} == {"/"}
    # Programs find the limits that hold for them where the two files say that they are.
    limit = dev.run(f"{where if where == 'srun ' else ''}cat /sys/fs/cgroup/memory/memory.limit_in_bytes")
    assert int(limit) < 1 << 40


@pytest.mark.parametrize("where", WHERE)
def test_names_and_settings_do_not_tell(dev: Stack, where: str) -> None:
    assert not TELLING.search(dev.run(f"{where}env; {where}hostname; {where}hostname --fqdn"))
    assert dev.run(f"{where}grep -rIlE 'kubernetes|kubelet|kubepods|containerd' /etc 2> /dev/null || true") == ""


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("look", ["ls /proc/1/root/", *(f"cat /proc/1/{each}" for each in FIRST_PROCESS)])
def test_the_first_process_is_not_to_be_seen(dev: Stack, where: str, look: str) -> None:
    said = dev.ssh(where + look)
    assert said.returncode != 0
    assert "/proc/1/" in said.stderr
    assert "No such file or directory" in said.stderr


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("first", ["", "mount -o remount,hidepid=0 /proc; ", "mount -t proc proc /tmp; cd /tmp; "])
def test_not_even_by_who_is_root_in_a_namespace_of_their_own(dev: Stack, where: str, first: str) -> None:
    said = dev.ssh(f"{where}unshare -Urm sh -c '{first}ls /proc/1/root/ || ls 1/root/'")
    assert said.returncode != 0
    assert said.stdout == ""


def test_users_see_their_own_processes_and_no_others(dev: Stack) -> None:
    for where in WHERE:
        assert set(dev.run(f"{where}ps -eo user:20=").split()) == {"researcher"}


@pytest.mark.parametrize("where", WHERE)
def test_kubernetes_has_left_no_word_in_the_files_that_it_writes(dev: Stack, where: str) -> None:
    assert dev.ssh(f"{where}ls /dev/termination-log").returncode != 0
    assert dev.run(f"{where}grep -ciE 'kube|managed' /etc/hosts /etc/hostname /etc/resolv.conf || true").split() == [
        "/etc/hosts:0",
        "/etc/hostname:0",
        "/etc/resolv.conf:0",
    ]


@pytest.mark.parametrize("where", ["", "srun --nodelist=worker-0 "])
def test_nodes_are_found_by_their_names(dev: Stack, where: str) -> None:
    for node in ("worker-0", "worker-1"):
        address = dev.kubectl("get", "pod", node, "-o", "jsonpath={.status.podIP}")
        assert dev.run(f"{where}getent hosts {node}").split()[0] == address
    assert dev.ssh(f"{where}getent hosts worker-2").returncode == 2


@pytest.mark.parametrize("where", WHERE)
def test_a_user_cannot_become_root(dev: Stack, where: str) -> None:
    for way in (
        "su -c id",
        "sudo -n id",
        "chroot / id",
        "unshare --mount id",
        "mount -t tmpfs none /tmp",
        "chown root ~",
    ):
        assert dev.ssh(where + way).returncode != 0, way


# What a user's login files see on a worker, for the job to print. Not a word of it where the user logs in.
PROFILE = """
case $(hostname) in worker-*) export SEEN="$(echo $(ls -A /))" MOUNTS="$(grep -c /mnt/ /proc/self/mounts)" ;; esac
"""


@pytest.mark.parametrize("option", ["--export=NONE", "--export=PASSED=on", "--get-user-env"])
def test_login_files_that_a_job_asks_for_run_inside(dev: Stack, option: str) -> None:
    """slurmd runs them before there is a step, and is itself outside."""
    dev.run("cp -p ~/.profile ~/.profile.kept; cat >> ~/.profile", stdin=PROFILE)
    try:
        script = 'echo "$SEEN"; echo "$MOUNTS"; echo "$HOME $USER $PASSED"; env | grep -ciE "kube|k8s"'
        job = submitted(dev.run(f"sbatch {option} --output=asked.txt --wrap '{script}; true'"))
        dev.wait_for_job(job)
    finally:
        dev.run("mv ~/.profile.kept ~/.profile")
    seen, mounts, who, kubernetes = dev.run("cat ~/asked.txt").splitlines()
    assert seen.split() == dev.run("srun ls -A /").split()
    assert ".slipway" in seen.split()
    assert (mounts, kubernetes) == ("0", "0")
    assert who.split() == ["/home/researcher", "researcher", *(["on"] if "PASSED" in option else [])]


@pytest.mark.parametrize("where", WHERE)
def test_no_key_is_to_be_found(dev: Stack, where: str) -> None:
    for place in ("/etc/slurm-keys", "/mnt/keys", "/etc/munge/munge.key", "/mnt/host-keys", "/run/secrets"):
        assert dev.ssh(f"{where}ls {place}").returncode != 0, place
    assert (
        dev.run(
            where
            + "find / -xdev ( -name '*.key' -o -name 'ssh_host_*' ) -readable -type f".replace("(", "\\(").replace(
                ")", "\\)"
            )
            + " 2>/dev/null || true"
        )
        == ""
    )


@pytest.mark.parametrize("where", WHERE)
def test_users_cannot_write_outside_what_is_theirs(dev: Stack, where: str) -> None:
    for place in ("/", "/etc", "/usr/bin", "/run/slurm", "/run/munge", "/.slipway", "/var/spool/slurmd", "/home"):
        assert dev.ssh(f"{where}touch {place}/x").returncode != 0, place


def test_slurm_in_the_shared_root_is_the_one_of_the_pods(dev: Stack) -> None:
    pod = dev.kubectl("exec", "login-0", "-c", "sshd", "--", "sha256sum", "/usr/bin/srun").split()[0]
    assert dev.run("sha256sum /usr/bin/srun").split()[0] == pod
    pod = dev.kubectl("exec", "worker-0", "-c", "slurmd", "--", "sha256sum", "/usr/bin/srun").split()[0]
    assert dev.run("srun --nodelist=worker-0 sha256sum /usr/bin/srun").split()[0] == pod


def test_the_configuration_is_where_people_look_for_it(dev: Stack) -> None:
    for where in WHERE:
        assert "ClusterName=dev" in dev.run(where + "cat /etc/slurm/slurm.conf")


def test_what_an_administrator_installs_is_there_for_sessions_and_jobs(dev: Stack) -> None:
    script = (
        "printf '#!/bin/sh\\necho installed\\n' > /mnt/jail/usr/local/bin/tool; chmod 755 /mnt/jail/usr/local/bin/tool"
    )
    dev.kubectl("exec", "login-0", "-c", "sshd", "--", "sh", "-c", script)
    assert dev.run("tool") == dev.run("srun tool") == "installed"


def test_passwords_and_root_are_turned_away(dev: Stack) -> None:
    refused = dev.ssh(
        "id", "-o", "PubkeyAuthentication=no", "-o", "PreferredAuthentications=password,keyboard-interactive"
    )
    assert "Permission denied (publickey)" in refused.stderr
    assert "Permission denied (publickey)" in dev.ssh("id", user="root").stderr
