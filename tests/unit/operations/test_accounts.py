"""slurmdbd is brought to what the stack declares, by the least that suffices, and never at the cost of a job."""

from collections.abc import Callable
from typing import Any

import pytest

from config import Settings
from operations.accounts import Record, Wishes, declare, settle
from operations.kubectl import PATIENCE, Cluster
from operations.problem import Problem
from operations.slurmdbd import parse
from slurm.accounts import declared
from tests.unit.operations.kubernetes import Kubernetes

SCIENCE = Cluster("science", PATIENCE)
USERS = [{"name": "alice", "uid": 10001}, {"name": "bob", "uid": 10002}]
ACCOUNTS: dict[str, Any] = {
    "qos": {"long": {"maxWall": "7d"}},
    "accounts": {"physics": {"users": ["alice"], "qos": ["normal", "long"]}},
    "administrators": ["bob"],
}

Wish = Callable[..., Wishes]


def wishes(**accounting: Any) -> Wishes:
    settings = Settings.model_validate({"accounting": {"enabled": True, **accounting}, "users": USERS})
    return Wishes(SCIENCE, "dev", declared(settings))


def update(wanted: Wishes) -> None:
    """Both commands, as one update runs them."""
    declare(wanted)
    settle(wanted)


@pytest.fixture
def kubernetes(running: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> Kubernetes:
    """A cluster with a slurmdbd that has never heard of it. Its slurmctld speaks to it some seconds after it could."""
    running.deploy_accounting()
    known = running.slurmdbd.add_cluster

    def add_cluster(name: str) -> None:
        known(name)
        running.clock.after(5, lambda: running.slurmdbd.clusters.update({name: "10.0.0.7|11520"}))

    monkeypatch.setattr(running.slurmdbd, "add_cluster", add_cluster)
    return running


def test_a_new_cluster_is_registered_and_gets_all_that_is_declared(kubernetes: Kubernetes) -> None:
    update(wishes(**ACCOUNTS))
    assert kubernetes.slurmdbd.told[0] == "add cluster dev"
    assert kubernetes.slurmdbd.qos["long"]["MaxWall"] == "7-00:00:00"
    assert kubernetes.slurmdbd.accounts["physics"]["QOS"] == "long,normal"
    assert kubernetes.slurmdbd.associations == [("root", "root"), ("physics", "alice"), ("root", "bob")]
    assert kubernetes.slurmdbd.users["bob"]["AdminLevel"] == "Administrator"
    assert Record.read(SCIENCE) == Record(wishes(**ACCOUNTS).things)


def test_slurmctld_takes_the_number_that_a_slurmdbd_gives_it_which_never_heard_of_it(kubernetes: Kubernetes) -> None:
    declare(wishes())
    declare(wishes())  # slurmctld has not restarted yet, and may have been killed before it could
    assert kubernetes.done.count("forget the cluster's number") == 2
    settle(wishes())
    kubernetes.done.clear()
    update(wishes())
    assert "forget the cluster's number" not in kubernetes.done


def test_a_cluster_of_this_name_that_is_merely_off_keeps_its_number(kubernetes: Kubernetes) -> None:
    """slurmdbd forgets where a slurmctld was that went away: it may be another cluster's, in the same database."""
    kubernetes.slurmdbd.add_cluster("dev")
    kubernetes.slurmdbd.clusters["dev"] = "|11520"
    declare(wishes())
    assert "forget the cluster's number" not in kubernetes.done


def test_a_cluster_without_a_controller_has_no_number_to_forget(kubernetes: Kubernetes) -> None:
    del kubernetes.pods["controller-0"]
    declare(wishes())
    assert kubernetes.slurmdbd.told == ["add cluster dev"]


def test_a_second_time_nothing_is_done(kubernetes: Kubernetes, capsys: pytest.CaptureFixture[str]) -> None:
    update(wishes(**ACCOUNTS))
    told = list(kubernetes.slurmdbd.told)
    update(wishes(**ACCOUNTS))
    assert kubernetes.slurmdbd.told == told
    assert "accounts are as the stack declares them" in capsys.readouterr().out


def test_a_change_is_one_command_and_is_told(kubernetes: Kubernetes, capsys: pytest.CaptureFixture[str]) -> None:
    update(wishes(**ACCOUNTS))
    kubernetes.slurmdbd.told.clear()
    update(wishes(**{**ACCOUNTS, "qos": {"long": {"maxWall": "1d"}}}))
    assert kubernetes.slurmdbd.told == ["modify qos where name=long set MaxWall=1-00:00:00"]
    assert "QOS long: MaxWall 7-00:00:00 -> 1-00:00:00" in capsys.readouterr().out


def test_what_goes_is_removed_only_after_slurmctld_has_heard_of_it(kubernetes: Kubernetes) -> None:
    update(wishes(**ACCOUNTS))
    declare(wishes())
    assert "long" in kubernetes.slurmdbd.qos
    settle(wishes())
    assert set(kubernetes.slurmdbd.qos) == {"normal"}
    assert set(kubernetes.slurmdbd.accounts) == {"root"}
    assert set(kubernetes.slurmdbd.users) == {"root"}


def test_what_others_have_added_is_left_alone(kubernetes: Kubernetes) -> None:
    update(wishes(**ACCOUNTS))
    kubernetes.slurmdbd.sacctmgr("sacctmgr --immediate add qos theirs Description=theirs")
    kubernetes.slurmdbd.sacctmgr("sacctmgr --immediate add user carol account=root cluster=dev")
    update(wishes())
    assert set(kubernetes.slurmdbd.qos) == {"normal", "theirs"}
    assert set(kubernetes.slurmdbd.users) == {"root", "carol"}


def test_an_account_that_others_have_put_somebody_in_does_not_go(kubernetes: Kubernetes) -> None:
    update(wishes(**ACCOUNTS))
    kubernetes.slurmdbd.sacctmgr("sacctmgr --immediate add user carol account=physics cluster=dev")
    told = list(kubernetes.slurmdbd.told)
    with pytest.raises(Problem, match="account physics cannot go: user carol in it is not of this stack"):
        declare(wishes())
    assert kubernetes.slurmdbd.told == told


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("7|physics|alice|long|PENDING", "QOS long cannot go: jobs use it: 7 \\(alice, pending\\)"),
        ("7|physics|alice|normal|RUNNING", "user alice in physics cannot go: jobs use it: 7 \\(alice, running\\)"),
    ],
)
def test_what_jobs_use_does_not_go_and_nothing_else_is_done(kubernetes: Kubernetes, job: str, said: str) -> None:
    update(wishes(**ACCOUNTS))
    kubernetes.charged = [job]
    told = list(kubernetes.slurmdbd.told)
    with pytest.raises(Problem, match=said):
        declare(wishes(qos={"new": {}}))
    assert kubernetes.slurmdbd.told == told
    kubernetes.charged = []
    update(wishes(qos={"new": {}}))
    assert set(kubernetes.slurmdbd.qos) == {"normal", "new"}


def test_jobs_of_others_are_in_nobodys_way(kubernetes: Kubernetes) -> None:
    update(wishes(**ACCOUNTS))
    kubernetes.charged = ["7|root|bob|normal|RUNNING"]
    update(wishes(administrators=["bob"]))
    assert set(kubernetes.slurmdbd.accounts) == {"root"}


def test_a_limit_of_what_slurmdbd_does_not_know_yet_comes_when_slurmctld_has_told_it(kubernetes: Kubernetes) -> None:
    wanted = wishes(qos={"gpu": {"maxTresPerUser": {"cpu": 8, "gres/gpu": 4}}})
    declare(wanted)
    assert kubernetes.slurmdbd.qos["gpu"]["MaxTRESPerUser"] == "cpu=8"
    kubernetes.slurmdbd.tres.append("gres|gpu")
    settle(wanted)
    assert kubernetes.slurmdbd.qos["gpu"]["MaxTRESPerUser"] == "cpu=8,gres/gpu=4"


def test_a_users_own_choice_among_their_accounts_stays(kubernetes: Kubernetes) -> None:
    both = {"a": {"users": ["alice"]}, "b": {"users": ["alice"]}}
    update(wishes(accounts=both))
    kubernetes.slurmdbd.users["alice"]["DefaultAccount"] = "b"
    update(wishes(accounts=both))
    assert kubernetes.slurmdbd.users["alice"]["DefaultAccount"] == "b"
    update(wishes(accounts={"a": {"users": ["alice"]}}))
    assert kubernetes.slurmdbd.users["alice"]["DefaultAccount"] == "a"
    assert kubernetes.slurmdbd.associations == [("root", "root"), ("a", "alice")]


def test_a_refusal_is_told_in_sacctmgrs_words_and_the_next_run_goes_on(kubernetes: Kubernetes) -> None:
    wanted = wishes(accounts={"a": {}, "b": {}})
    broken = Wishes(SCIENCE, "dev", {"account b": {**wanted.things["account b"], "Parent": "nowhere"}})
    with pytest.raises(
        Problem, match=r"sacctmgr refused `sacctmgr --immediate add account b .*nowhere.* doesn't exist"
    ):
        declare(broken)
    assert Record.read(SCIENCE).unfinished
    update(wanted)
    assert {"a", "b"} <= set(kubernetes.slurmdbd.accounts)
    assert not Record.read(SCIENCE).unfinished


def test_what_an_update_that_did_not_end_has_declared_is_not_forgotten(kubernetes: Kubernetes) -> None:
    declare(wishes(**ACCOUNTS))
    update(wishes())
    assert set(kubernetes.slurmdbd.qos) == {"normal"}
    assert set(kubernetes.slurmdbd.accounts) == {"root"}


def test_a_slurmdbd_that_forgets_what_it_was_told_is_no_success(kubernetes: Kubernetes) -> None:
    update(wishes())
    kubernetes.slurmdbd.deaf = True
    with pytest.raises(Problem, match="slurmdbd does not show what it was told:\nQOS long: new"):
        update(wishes(**ACCOUNTS))
    assert Record.read(SCIENCE).unfinished


def test_a_slurmctld_that_does_not_speak_to_slurmdbd_is_no_success(running: Kubernetes) -> None:
    running.deploy_accounting()
    with pytest.raises(Problem, match="slurmctld to register with slurmdbd"):
        update(wishes(**ACCOUNTS))


def test_slurmdbd_is_waited_for(kubernetes: Kubernetes, capsys: pytest.CaptureFixture[str]) -> None:
    kubernetes.slurmdbd.up = False

    def start() -> None:
        kubernetes.slurmdbd.up = True

    kubernetes.clock.after(20, start)
    update(wishes())
    assert "slurmdbd to answer" in capsys.readouterr().out


def test_a_slurmdbd_that_never_answers_fails_the_update_with_where_to_look(kubernetes: Kubernetes) -> None:
    kubernetes.slurmdbd.up = False
    with pytest.raises(Problem, match="logs accounting-0 --container slurmdbd"):
        declare(wishes())


def test_a_pod_that_is_about_to_be_replaced_is_not_asked(kubernetes: Kubernetes) -> None:
    kubernetes.sets["accounting"]["status"]["updateRevision"] = "accounting-2"
    kubernetes.clock.after(10, lambda: kubernetes.start("accounting-0"))
    update(wishes())
    assert kubernetes.clock.now >= 10


@pytest.mark.parametrize(
    ("shown", "read"),
    [("mem=2G", "mem=2048"), ("mem=1500M", "mem=1500"), ("cpu=5,gres/gpu=1", "cpu=5,gres/gpu=1"), ("", "")],
)
def test_limits_are_read_as_the_numbers_that_they_were_set_to(kubernetes: Kubernetes, shown: str, read: str) -> None:
    kubernetes.slurmdbd.qos["normal"]["GrpTRES"] = shown
    assert parse(kubernetes.slurmdbd.show()).things["QOS normal"]["GrpTRES"] == read
