"""`operations/run prepare`: new files are rehearsed, and what goes is emptied, before anything reaches the cluster."""

import os
import signal

import pytest

from operations.prepare import prepare
from operations.problem import Problem
from operations.progress import end_on_signals
from operations.record import Record
from tests.unit.operations import files
from tests.unit.operations.conftest import NODES, Wish
from tests.unit.operations.files import BASE, changed
from tests.unit.operations.kubernetes import Kubernetes
from tests.unit.operations.slurmctld import Job, Node

TWO = "worker-[0-1],burst-0"


def test_on_the_first_deploy_nothing_is_rehearsed_and_nothing_drained(
    bare: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    bare.controller = False
    prepare(wish(BASE))
    assert bare.done == []
    assert "there is no controller yet" in capsys.readouterr().out


def test_nodes_of_a_cluster_that_nobody_has_written_down_are_drained_before_they_go(
    running: Kubernetes, wish: Wish
) -> None:
    del running.config_maps["slurm-applied"]
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    with pytest.raises(Problem, match="1 job: 1"):
        prepare(wish(files.SHRUNK, nodes=TWO))


def test_a_change_that_takes_nothing_away_is_rehearsed_and_no_more(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-0")]
    prepare(wish(files.RECONFIGURED))
    assert running.done == ["rehearse"]
    assert set(running.record) == {"applied", "since"}


LENDING = changed(("PartitionName=main", "NodeSet=bridge Feature=pods\nPartitionName=main"))


def test_nodes_of_the_bridge_stay_in_service_while_it_has_a_place_for_them(running: Kubernetes, wish: Wish) -> None:
    running.slurm.nodes["machine-7"] = Node({"IDLE", "DYNAMIC_NORM", "EXTERNAL"})
    running.slurm.jobs = [Job(1, nodes="machine-7")]
    prepare(wish(LENDING))
    assert running.slurm.drained == {}


def test_pods_on_nodes_of_the_bridge_are_waited_for_before_it_goes(running: Kubernetes, wish: Wish) -> None:
    running.slurm.nodes["machine-7"] = Node({"IDLE", "DYNAMIC_NORM", "EXTERNAL"})
    running.slurm.jobs = [Job(1, nodes="machine-7")]
    with pytest.raises(Problem, match="1 job: 1"):
        prepare(wish(BASE))
    assert running.slurm.drained == {}, "it is as it was"


def test_files_that_slurmctld_does_not_start_with_change_nothing(running: Kubernetes, wish: Wish) -> None:
    running.rejects = "bf_interval"
    with pytest.raises(Problem) as told:
        prepare(wish(changed(("bf_continue", "bf_interval"), ("worker-[0-2]", "worker-[0-1]")), nodes=TWO))
    assert str(told.value) == (
        "slurmctld does not start with these files:\nfatal: bf_interval is nothing that I know\nNothing was changed."
    )
    assert running.done == ["rehearse"]
    assert running.slurm.drained == {}


def test_only_a_static_node_that_goes_is_drained(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.drained == {"worker-2": "slipway:change"}
    assert running.done == ["rehearse", "record applied attempts", "drain worker-2 slipway:change"]
    assert capsys.readouterr().out.splitlines()[-1] == "nodes worker-2: no job is left"


def test_a_drain_that_would_be_taken_away_without_us_is_taken_over(running: Kubernetes, wish: Wish) -> None:
    running.slurm.drain("worker-2", "slipway:cordoned: m0 is cordoned")
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.drained == {"worker-2": "slipway:change"}


def test_only_a_dynamic_node_that_goes_is_drained_though_no_file_names_it(running: Kubernetes, wish: Wish) -> None:
    prepare(wish(BASE, nodes="worker-[0-2]"))
    assert running.slurm.drained == {"burst-0": "slipway:change"}


def test_nodes_whose_shape_changes_are_all_emptied(running: Kubernetes, wish: Wish) -> None:
    prepare(wish(files.LARGER))
    assert set(running.slurm.drained) == {"worker-0", "worker-1", "worker-2"}


def test_what_concerns_everyone_empties_dynamic_nodes_too(running: Kubernetes, wish: Wish) -> None:
    prepare(wish(changed(("SlurmdPort=6818", "SlurmdPort=6818\nSlurmdSpoolDir=/elsewhere"))))
    assert set(running.slurm.drained) == {"worker-0", "worker-1", "worker-2", "burst-0"}


def test_an_administrators_drain_is_never_touched(running: Kubernetes, wish: Wish) -> None:
    running.slurm.drain("worker-2", "bad disk")
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.drained == {"worker-2": "bad disk"}
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    with pytest.raises(Problem):
        prepare(wish(files.SHRUNK, nodes=TWO, seconds=5))
    assert running.slurm.drained == {"worker-2": "bad disk"}
    assert not [each for each in running.done if each.startswith(("drain", "undrain"))]


def test_jobs_on_what_goes_are_waited_for_and_others_are_not(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    stays, goes = Job(1, nodes="worker-0"), Job(2, nodes="worker-[1-2]")
    running.slurm.jobs = [stays, goes]
    running.clock.after(30, lambda: running.slurm.jobs.remove(goes))
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.jobs == [stays]
    said = capsys.readouterr().out
    assert said.count("for 1 job: 2 (alice, on worker-[1-2])") == 1
    assert running.slurm.drained == {"worker-2": "slipway:change"}, "it stays drained until it is gone"


def test_jobs_that_do_not_end_stop_the_update_and_are_listed_and_left_alone(running: Kubernetes, wish: Wish) -> None:
    jobs = running.slurm.jobs = [Job(number, nodes="worker-2", user="bob") for number in range(1, 12)]
    with pytest.raises(Problem, match="waited 600 s for 11 jobs: ") as told:
        prepare(wish(files.SHRUNK, nodes=TWO))
    said = str(told.value)
    assert "8 (bob, on worker-2); and 3 more" in said
    assert "Nothing was done to them." in said
    assert "drain.onTimeout to requeue or cancel" in said
    assert running.slurm.jobs == jobs
    assert running.slurm.drained == {}
    assert running.done[-2:] == ["undrain worker-2", "record applied"], "as if it had never begun"


def test_jobs_are_requeued_where_the_stack_says_so(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2"), Job(2, nodes="worker-1")]
    prepare(wish(files.SHRUNK, nodes=TWO, on_timeout="requeue"))
    assert [job.state for job in running.slurm.jobs] == ["PENDING", "RUNNING"]
    assert running.done[-1] == "scontrol requeue 1"
    assert "requeue: 1 job: 1 (alice, on worker-2)" in capsys.readouterr().out


def test_jobs_are_cancelled_where_the_stack_says_so(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2"), Job(2, nodes="worker-1")]
    prepare(wish(files.SHRUNK, nodes=TWO, on_timeout="cancel"))
    assert [job.number for job in running.slurm.jobs] == [2]
    assert running.done[-1] == "scancel 1"


def test_a_job_that_waits_for_a_node_by_name_is_not_ended_with_it(running: Kubernetes, wish: Wish) -> None:
    """Slurm would, as soon as the node is gone."""
    jobs = running.slurm.jobs = [Job(1, wanted="worker-[1-2]"), Job(2, wanted="worker-0"), Job(3)]
    with pytest.raises(Problem, match=r"1 job: 1 \(alice, waiting in main for worker-2\): Slurm would end them"):
        prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.jobs == jobs
    assert running.slurm.drained == {}


def test_a_job_that_waits_for_a_node_by_name_is_cancelled_where_the_stack_says_so(
    running: Kubernetes, wish: Wish
) -> None:
    running.slurm.jobs = [Job(1, wanted="worker-2"), Job(2, wanted="worker-0")]
    prepare(wish(files.SHRUNK, nodes=TWO, on_timeout="cancel"))
    assert [job.number for job in running.slurm.jobs] == [2]


def test_a_job_that_takes_one_of_two_features_stops_nothing(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, feature="intel|amd"), Job(2, wanted="worker-2", feature="[rack1|rack2]")]
    with pytest.raises(Problem, match=r"1 job: 2 \(alice, waiting in main for worker-2\)"):
        prepare(wish(files.SHRUNK, nodes=TWO))


def test_no_job_is_overlooked_for_the_name_of_its_user(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2", user="CORP|alice")]
    with pytest.raises(Problem, match=r"1 \(CORP\|alice, on worker-2\)"):
        prepare(wish(files.SHRUNK, nodes=TWO))


def test_a_requeued_job_that_asks_for_its_node_by_name_keeps_it(running: Kubernetes, wish: Wish) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2", wanted="worker-2")]
    with pytest.raises(Problem, match="Slurm would end them"):
        prepare(wish(files.SHRUNK, nodes=TWO, on_timeout="requeue"))
    assert [job.state for job in running.slurm.jobs] == ["PENDING"]
    assert running.slurm.drained == {}


def test_jobs_are_waited_for_without_end_where_there_is_no_limit(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    running.clock.after(3_000, lambda: running.slurm.jobs.clear())
    prepare(wish(files.SHRUNK, nodes=TWO, seconds=float("inf")))
    assert running.slurm.drained == {"worker-2": "slipway:change"}
    assert "waiting for 1 job" in capsys.readouterr().out


@pytest.mark.usefixtures("handlers")
def test_an_update_that_is_cancelled_during_the_drain_lets_the_nodes_serve_again(
    running: Kubernetes, wish: Wish
) -> None:
    running.slurm.jobs = [Job(1, nodes="worker-2")]
    running.clock.after(10, lambda: os.kill(os.getpid(), signal.SIGTERM))
    end_on_signals()
    with pytest.raises(Problem, match=r"cancelled \(SIGTERM\)"):
        prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.drained == {}
    assert [job.number for job in running.slurm.jobs] == [1]


def test_an_attempt_before_this_one_may_have_added_what_goes_now(running: Kubernetes, wish: Wish) -> None:
    """Its files are not the verified ones, and Slurm may run them all the same."""
    more = wish(files.GROWN)
    Record.read(more.cluster).open(more.cluster, files.GROWN)
    running.slurm.read(files.GROWN, running.clock.written())
    prepare(wish(BASE))
    assert running.slurm.drained == {"worker-3": "slipway:change"}


def test_a_slurmctld_that_comes_back_within_a_minute_is_waited_for(running: Kubernetes, wish: Wish) -> None:
    running.slurm.up = False
    running.clock.after(20, lambda: setattr(running.slurm, "up", True))
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.slurm.drained == {"worker-2": "slipway:change"}


def test_a_cluster_that_was_taken_down_and_left_its_data_is_made_anew_at_once(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.controller = False
    running.pods.clear()
    began = running.clock.monotonic()
    prepare(wish(files.SHRUNK, nodes=TWO))
    assert running.clock.monotonic() - began < 1
    assert running.done == ["record applied attempts"], "so that Slurm is told to look for its nodes again"
    assert "there is no controller yet" in capsys.readouterr().out


def test_nothing_goes_while_slurmctld_is_silent(running: Kubernetes, wish: Wish) -> None:
    running.slurm.up = False
    with pytest.raises(Problem, match=r"nobody can tell which jobs use .*worker-2\.\n") as told:
        prepare(wish(files.SHRUNK, nodes=TWO))
    assert "kubectl -n science describe pod controller-0" in str(told.value)
    assert str(told.value).endswith("Nothing was changed.")
    assert running.done == []


def test_no_dynamic_node_goes_while_slurmctld_is_silent(running: Kubernetes, wish: Wish) -> None:
    running.slurm.up = False
    with pytest.raises(Problem, match="burst-0"):
        prepare(wish(BASE, nodes="worker-[0-2]"))


def test_a_change_that_may_bring_slurmctld_back_goes_on_without_it(
    running: Kubernetes, wish: Wish, capsys: pytest.CaptureFixture[str]
) -> None:
    running.slurm.up = False
    prepare(wish(files.RECONFIGURED, nodes=NODES))
    assert running.done == []
    assert "slurmctld does not answer: the files are not rehearsed" in capsys.readouterr().out
