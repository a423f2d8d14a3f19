"""The throwaway slurmctld: what its files are, and what is made of its answer."""

import pytest

from operations.kubectl import Cluster
from operations.problem import Problem
from operations.rehearse import FOLDER, PORT, Rejected, complaints, rehearse, stage
from slurm.conf import parse
from tests.unit.operations.files import BASE, LIVE, changed
from tests.unit.operations.kubernetes import Kubernetes

SCIENCE = Cluster("science")


def test_it_shows_what_the_files_mean(running: Kubernetes) -> None:
    meant = rehearse(SCIENCE, LIVE)
    assert meant.partitions["debug"]["MaxTime"] == "120"
    assert meant.config["SchedulerParameters"] == "bf_continue"
    assert set(meant.nodes) == {"worker-0", "worker-1", "worker-2"}
    assert running.done == ["rehearse"]
    assert running.slurm.partitions["debug"]["MaxTime"] == "60", "the live one has heard of nothing"


def test_what_it_rejects_is_told_in_its_own_words(running: Kubernetes) -> None:
    running.rejects = "MaxTime=120"
    with pytest.raises(Problem, match="slurmctld does not start with these files:\nfatal: MaxTime=120 is nothing"):
        rehearse(SCIENCE, LIVE)


def test_a_script_that_commands_cannot_read_is_rejected_too(running: Kubernetes) -> None:
    with pytest.raises(Rejected, match=r"a job cannot be submitted .*\n.*cli_filter\.lua:1: syntax error"):
        rehearse(SCIENCE, {**LIVE, "cli_filter.lua": "a syntax error"})


def test_a_pod_that_does_not_answer_is_another_problem(running: Kubernetes) -> None:
    del running.pods["controller-0"]
    with pytest.raises(Problem, match='the files could not be rehearsed: pods "controller-0" not found'):
        rehearse(SCIENCE, LIVE)


def test_its_host_port_and_state_are_its_own() -> None:
    staged = parse(stage(BASE)["slurm.conf"])
    assert staged.lines["SlurmctldHost"] == ({"SlurmctldHost": "controller-0(127.0.0.1)"},)
    assert staged.keys["SlurmctldPort"] == str(PORT) != "6817"
    assert staged.keys["StateSaveLocation"].startswith(FOLDER)
    assert staged.keys["SlurmctldPidFile"].startswith(FOLDER)


@pytest.mark.parametrize(
    "line",
    [
        "AccountingStorageType=accounting_storage/slurmdbd",
        "AccountingStorageHost=accounting",
        "accountingstoragetres=gres/gpu",
        "JobCompType=jobcomp/script",
        "JobCompLoc=/usr/local/sbin/mail-everyone",
        "SuspendProgram=/usr/local/sbin/power-off",
        "SuspendTime=300",
        "ResumeProgram=/usr/local/sbin/power-on",
        "ResumeFailProgram=/bin/false",
        "SlurmctldPrimaryOnProg=/usr/local/sbin/announce",
        "SlurmctldPrimaryOffProg=/usr/local/sbin/announce",
        "SlurmctldLogFile=/var/log/slurmctld.log",
        "PriorityWeightFairshare=1000",
    ],
)
def test_it_reaches_out_to_nobody(line: str) -> None:
    staged = stage(changed(("ClusterName=dev", f"ClusterName=dev\n{line}")))["slurm.conf"]
    assert line.split("=")[0].lower() not in staged.lower()


def test_its_nodes_are_where_nothing_listens() -> None:
    staged = parse(stage(BASE)["slurm.conf"])
    assert {line: fields["NodeAddr"] for line, fields in staged.nodes.items()} == {"worker-[0-2]": "127.0.0.1"}


def test_everything_else_is_as_it_will_be() -> None:
    staged, real = parse(stage(BASE)["slurm.conf"]), parse(BASE["slurm.conf"])
    assert staged.partitions == real.partitions
    assert staged.nodesets == real.nodesets
    assert staged.keys["SchedulerParameters"] == real.keys["SchedulerParameters"]
    assert stage(BASE)["cgroup.conf"] == BASE["cgroup.conf"]


def test_a_partitions_qos_is_left_out_and_still_expected(running: Kubernetes) -> None:
    """Only slurmdbd knows it, and slurmctld does not start with one that it cannot look up."""
    limited = changed(("PartitionName=debug Nodes=worker-0", "PartitionName=debug Nodes=worker-0 QOS=short AllowQos=a"))
    assert "QOS" not in parse(stage(limited)["slurm.conf"]).partitions["debug"]
    assert parse(stage(limited)["slurm.conf"]).partitions["debug"]["AllowQos"] == "a"
    assert rehearse(SCIENCE, limited).partitions["debug"]["QoS"] == "short"


def test_files_that_are_for_others_are_left_out() -> None:
    more = {
        **BASE,
        "slurmdbd.conf": "StoragePass=x\n",
        "plugstack.conf": "required chroot.so\n",
        "gres.conf": "Name=gpu\n",
    }
    assert set(stage(more)) == {"slurm.conf", "cgroup.conf", "gres.conf"}


def test_complaints_are_what_is_wrong_and_each_once() -> None:
    log = """\
slurmctld: debug: hello
[2027-01-15T08:00:00.000] error: Node worker-0 appears to have a different slurm.conf than the slurmctld
[2027-01-15T08:00:00.000] error: Invalid SchedulerParameters
slurmctld: error: Invalid SchedulerParameters
slurmctld: fatal: slurmctld initialization failed
"""
    assert complaints(log) == "error: Invalid SchedulerParameters\nfatal: slurmctld initialization failed"


def test_without_a_complaint_its_last_words_are_told() -> None:
    assert complaints("".join(f"slurmctld: line {number}\n" for number in range(9))).splitlines() == [
        "line 4",
        "line 5",
        "line 6",
        "line 7",
        "line 8",
    ]
