"""Limits and volumes of one NodeSet's jobs, which neither other nodes nor the logins have."""

from tests.cluster.comfort.conftest import LOCAL
from tests.cluster.stacks import Stack


def test_jobs_have_the_limits_of_their_node(comfort: Stack) -> None:
    shown = comfort.run("srun -w worker-0 bash -c 'ulimit -Sn; ulimit -Hn; ulimit -Ss'").split()
    assert shown == ["4096", "4096", "65536"]


def test_a_session_has_its_own_which_jobs_do_not_take_along(comfort: Stack) -> None:
    assert comfort.run("ulimit -Sn; ulimit -Hn").split() == ["2048", "2048"]
    assert comfort.run("ulimit -n 512; ulimit -l 64; srun -w worker-0 bash -c 'ulimit -n'") == "4096"
    locked = "bash -c 'ulimit -l'"
    assert comfort.run(f"ulimit -l 64; srun -w worker-0 {locked}") == comfort.run(f"srun -w worker-0 {locked}") != "64"


def test_a_node_that_cannot_raise_a_limit_says_so(comfort: Stack) -> None:
    """Nobody in the lab has the right to raise one; workers elsewhere have it, as they are privileged."""
    most = comfort.kubectl("exec", "worker-0", "-c", "slurmd", "--", "sh", "-c", "ulimit -Hl").strip()
    log = comfort.kubectl("logs", "worker-0", "-c", "slurmd")
    assert ("memlock stays at" in log) == (most != "unlimited")


def test_an_empty_volume_is_there_for_all_users_of_the_node(comfort: Stack) -> None:
    assert comfort.run("srun -w worker-0 stat -c '%U %a' /scratch") == "root 1777"
    comfort.run("srun -w worker-0 bash -c 'echo kept > /scratch/researcher'")
    assert comfort.run("srun -w worker-0 cat /scratch/researcher", user="ada") == "kept"
    assert comfort.ssh("srun -w worker-0 rm -f /scratch/researcher", user="ada").returncode != 0


def test_a_folder_of_the_machine_is_read_only_where_that_is_said(comfort: Stack) -> None:
    shown = comfort.run("srun -w worker-0 findmnt --noheadings --output=TARGET,OPTIONS --target=/local").split()
    assert shown[0] == "/local"
    assert "ro" in shown[1].split(","), f"{LOCAL} can be written to"


def test_other_nodes_and_logins_do_not_have_them(comfort: Stack) -> None:
    for path in ("/scratch", "/local"):
        for where in ("", "srun -w other-0 "):
            assert comfort.run(f"{where}findmnt --noheadings --output=TARGET --target={path}") == "/"
            assert comfort.ssh(f"{where}touch {path}/x").returncode != 0
