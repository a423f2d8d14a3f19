"""Who has no business with the cluster reaches none of its daemons. What changes, changes behind the policies, too."""

from collections.abc import Iterator

import pytest

from tests.cluster.network.conftest import DOORS, ELSEWHERE, PORTAL, PROMETHEUS, Strangers
from tests.cluster.stacks import Stack, until

ALL = set(DOORS)


@pytest.fixture
def job(guarded: Stack) -> Iterator[str]:
    """One that runs all the time, and must not be any the worse for what is done."""
    number = guarded.run("sbatch --parsable -w worker-0 -o /dev/null --wrap 'sleep 600'")
    guarded.wait_for_job(number, "RUNNING")
    yield number
    guarded.run(f"scancel {number}")


def test_strangers_find_the_login_node_and_nothing_else(strangers: Strangers, guarded: Stack) -> None:
    reached = strangers.all_reach(ELSEWHERE, PORTAL, PROMETHEUS, guarded.namespace)
    assert reached == {
        ELSEWHERE: {"sshd"},
        PORTAL: {"sshd", "slurmrestd"},
        PROMETHEUS: {"sshd", "metrics"},
        guarded.namespace: set(),  # it may not even speak
    }


def test_a_pod_that_calls_itself_a_worker_elsewhere_is_a_stranger(strangers: Strangers, guarded: Stack) -> None:
    labels = [
        "app.kubernetes.io/part-of=slipway",
        "app.kubernetes.io/instance=guarded",
        "app.kubernetes.io/name=worker",
    ]
    strangers.kubectl("label", "pod", "stranger", "-n", ELSEWHERE, *labels)
    try:
        assert strangers.reach(ELSEWHERE) == {"sshd"}
    finally:
        names = [f"{label.partition('=')[0]}-" for label in labels]
        strangers.kubectl("label", "pod", "stranger", "-n", ELSEWHERE, *names)


def test_users_do_not_reach_the_database(strangers: Strangers, guarded: Stack) -> None:
    for where in ("", "srun "):
        database = f"{where}timeout 3 bash -c '</dev/tcp/{strangers.places['mariadb']}'"
        slurmdbd = f"{where}timeout 3 bash -c '</dev/tcp/{strangers.places['slurmdbd']}'"
        assert guarded.ssh(database).returncode != 0
        assert guarded.ssh(slurmdbd).returncode == 0  # as sacct does


def test_the_cluster_grows_and_is_configured_anew_behind_them(guarded: Stack, job: str) -> None:
    guarded.set("worker.size", "3")
    guarded.set("slurm.extra.KillWait", "45")
    guarded.up()
    assert guarded.run("srun -w worker-2 hostname") == "worker-2"
    assert sorted(guarded.run("srun -N2 -w worker-1,worker-2 hostname").split()) == ["worker-1", "worker-2"]
    # slurmctld has told sackd, which keeps what users' commands read.
    told = ["exec", "login-0", "-c", "sshd", "--", "grep", "^KillWait=", "/run/slurm/conf/slurm.conf"]
    until(lambda: guarded.kubectl(*told) == "KillWait=45\n", "the login node to hear of the new value", 30)
    assert guarded.wait_for_job(job, "RUNNING")["Restarts"] == "0"
    guarded.up("--expect-no-changes")


def test_the_same_doors_are_open_without_policies_and_a_job_notices_nothing(
    strangers: Strangers, guarded: Stack, job: str
) -> None:
    """What shows that it was the policies: the same connections, without them."""
    guarded.set("network.policies", "false")
    guarded.up()
    strangers.find_doors()
    open_to_all = {ELSEWHERE: ALL, guarded.namespace: ALL}
    until(lambda: strangers.all_reach(*open_to_all) == open_to_all, "all doors to open", 30)
    guarded.set("network.policies", "true")
    guarded.up()
    shut = {ELSEWHERE: {"sshd"}, guarded.namespace: set[str]()}
    until(lambda: strangers.all_reach(*shut) == shut, "all doors to be shut", 30)
    assert guarded.wait_for_job(job, "RUNNING")["Restarts"] == "0"
    assert guarded.run("srun -w worker-1 hostname") == "worker-1"
