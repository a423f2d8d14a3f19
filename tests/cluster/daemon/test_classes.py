"""What the table of change classes says is what a live slurmctld does: one key for each class that needs no node."""

from collections.abc import Iterator

import pytest

from config import Settings
from slurm.changes import plan
from slurm.render import render
from tests.cluster.daemon.slurmctld import Slurmctld

FILES = render(Settings(), cgroup_v2=False)


def changed(old: str, new: str) -> dict[str, str]:
    """The files with one value changed."""
    assert old in FILES["slurm.conf"]
    return FILES | {"slurm.conf": FILES["slurm.conf"].replace(old, new)}


def planned(new: dict[str, str]) -> str:
    return plan(FILES, new).cls


def commands(new: dict[str, str]) -> list[str]:
    return [command for step in plan(FILES, new).steps for command in step.commands]


@pytest.fixture
def running(slurmctld: Slurmctld) -> Iterator[Slurmctld]:
    """A slurmctld with one job in its queue."""
    slurmctld.start(FILES)
    slurmctld.ask("sbatch -H --wrap=true")
    assert queue(slurmctld) == 1
    yield slurmctld
    slurmctld.stop()


def queue(slurmctld: Slurmctld) -> int:
    return int(slurmctld.ask("squeue -h | wc -l"))


def config(slurmctld: Slurmctld, key: str) -> str:
    return slurmctld.ask(f"scontrol show config | sed -n 's/^{key} *= //p'").strip()


def test_a_live_change_is_effective_without_a_reconfigure_and_reverts_if_the_file_does_not_say_it(
    running: Slurmctld,
) -> None:
    new = changed("MaxTime=UNLIMITED", "MaxTime=02:00:00")
    assert planned(new) == "live"
    running.ask(*commands(new))
    assert "MaxTime=02:00:00" in running.ask("scontrol show partition main")
    running.ask("scontrol reconfigure")
    assert "MaxTime=UNLIMITED" in running.ask("scontrol show partition main")
    assert queue(running) == 1


def test_a_reconfigure_change_takes_effect_and_keeps_the_queue(running: Slurmctld) -> None:
    new = changed("KillWait=30", "KillWait=45")
    assert planned(new) == "reconfigure"
    running.ask(running.put(new))
    assert config(running, "KillWait") == "30 sec"
    running.ask("scontrol reconfigure")
    assert config(running, "KillWait") == "45 sec"
    assert queue(running) == 1


def test_a_partition_can_come_and_go_live(running: Slurmctld) -> None:
    new = changed("PartitionName=main", "PartitionName=short Nodes=worker-0 MaxTime=10:00\nPartitionName=main")
    assert planned(new) == "live"
    running.ask(*commands(new))
    assert "Nodes=worker-0" in running.ask("scontrol show partition short")
    assert plan(new, FILES).cls == "drain-first"  # its jobs have to end
    for step in plan(new, FILES).steps:
        for command in step.commands:
            running.ask(command)
    assert "short" not in running.ask("sinfo -h -o %P")


def test_a_changed_port_takes_a_restart_of_the_controller(running: Slurmctld) -> None:
    new = changed("SlurmctldPort=6817", "SlurmctldPort=6917")
    assert planned(new) == "restart-controller"
    running.ask(running.put(new))
    running.run("scontrol reconfigure")
    assert running.listening() == {6817}
    running.ask(running.put(FILES))
    running.stop()
    running.start(new, clear=False)
    assert running.listening() == {6917}
    assert queue(running) == 1


def test_another_state_folder_really_would_lose_the_queue(running: Slurmctld) -> None:
    new = changed("StateSaveLocation=/var/spool/slurmctld", "StateSaveLocation=/var/spool/elsewhere")
    assert planned(new) == "refused"
    running.ask("mkdir -m 700 /var/spool/elsewhere")
    running.stop()
    running.start(new, clear=False)
    assert queue(running) == 0


def test_another_cluster_name_really_is_fatal(running: Slurmctld) -> None:
    new = changed("ClusterName=dev", "ClusterName=other")
    assert planned(new) == "refused"
    running.stop()
    with pytest.raises(AssertionError, match="CLUSTER NAME MISMATCH"):
        running.start(new, clear=False)
    running.start(FILES, clear=False)
    assert queue(running) == 1


def test_an_unknown_key_really_is_refused_and_the_old_daemon_goes_on(running: Slurmctld) -> None:
    new = changed("KillWait=30", "KillWaits=30")
    assert planned(new) == "refused"
    running.ask(running.put(new))
    assert running.run("scontrol reconfigure").returncode != 0
    running.ask(running.put(FILES))
    assert queue(running) == 1
