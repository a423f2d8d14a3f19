"""What a run changes: found out before any resource is made, shown in a preview, stopped where it is refused."""

import json
from typing import Any

import pulumi
import pytest

from components import change
from components.change import Change
from slurm.accounts import declared
from slurm.moves import places
from slurm.render import render
from tests.unit.components.deployed import settings_of
from tests.unit.components.engine import FOUR, TWO, Engine


def test_a_first_deploy_changes_nothing(engine: Engine) -> None:
    assert change.find(settings_of(**TWO)) == Change()
    assert engine.shown == ""


def test_the_last_deploy_is_looked_up_by_the_name_of_this_stack(engine: Engine) -> None:
    change.find(settings_of(**TWO))
    [(function, arguments)] = engine.invoked
    assert function == "pulumi:pulumi:readStackOutputs"
    assert arguments["name"].endswith(f"/{pulumi.get_project()}/{pulumi.get_stack()}")


def test_the_cluster_is_asked_with_what_the_commands_are_told_too(engine: Engine) -> None:
    settings = settings_of(**TWO)
    change.find(settings)
    assert engine.ran["command"] == "operations/run look"
    assert engine.ran["environment"] == change.environment(settings)
    assert json.loads(engine.ran["stdin"]) == render(settings)


def test_what_stays_as_it_is_is_no_change(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO))
    assert change.find(settings_of(**TWO)) == Change(running=True)
    assert engine.shown == ""


def test_a_preview_shows_the_files_and_what_becomes_of_the_cluster(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO))
    change.find(
        settings_of(**TWO, partitions={"main": {"nodeSets": ["worker"], "default": True, "maxTime": "1:00:00"}})
    )
    files, plan = engine.infos
    assert files.startswith("slurm.conf\n--- a/slurm.conf\n+++ b/slurm.conf\n")
    assert "\n-PartitionName=main" in files
    assert "\n+PartitionName=main" in files
    assert plan.startswith("What this does to the running cluster (live):")
    assert "MaxTime" in plan


def test_an_update_does_not_say_it_again(update: Engine) -> None:
    update.deployed(settings_of(**FOUR))
    update.look |= {"waitedFor": ["1 (alice, on worker-3)"], "unfinished": True}
    assert change.find(settings_of(**TWO)) == Change(frozenset({"worker"}), 1, running=True)
    assert update.shown == ""


def test_a_preview_names_jobs_that_are_waited_for_and_jobs_that_will_never_start(engine: Engine) -> None:
    engine.deployed(settings_of(**FOUR))
    engine.look |= {
        "waitedFor": ["1 (alice, on worker-3)"],
        "stranded": ["2 (bob, waiting in main): asks for worker-3"],
    }
    change.find(settings_of(**TWO))
    waited, stranded = engine.warnings
    assert "1 running jobs are waited for first:\n1 (alice, on worker-3)" in waited
    assert stranded.endswith("\n2 (bob, waiting in main): asks for worker-3")


def test_a_preview_without_the_cluster_is_by_the_last_deploy_and_says_so(engine: Engine) -> None:
    engine.deployed(settings_of(**FOUR))
    engine.look = {"unreachable": "Kubernetes does not answer: no such host"}
    assert change.find(settings_of(**TWO)).shrinking == {"worker"}
    assert "The cluster does not answer, so that this is by the last deploy alone" in engine.shown
    assert "no such host" in engine.shown


def test_after_an_update_that_failed_the_cluster_knows_better_than_its_outputs(engine: Engine) -> None:
    engine.deployed(settings_of(**FOUR))
    engine.look = {"applied": render(settings_of(**TWO)), "unfinished": False}
    assert change.find(settings_of(**TWO)) == Change(running=True)
    assert engine.shown == ""


def test_a_stack_that_has_lost_its_state_is_compared_with_what_runs(engine: Engine) -> None:
    engine.look = {"applied": render(settings_of(**FOUR)), "unfinished": False}
    assert change.find(settings_of(**TWO)).shrinking == {"worker"}


def test_every_unfinished_update_is_counted_once(engine: Engine) -> None:
    """With another number the commands run, though nothing else about them has changed."""
    engine.deployed(settings_of(**TWO), repairs=3)
    assert change.find(settings_of(**TWO)).repairs == 3
    engine.look["unfinished"] = True
    assert change.find(settings_of(**TWO)).repairs == 4
    assert "An update before this one did not end" in engine.shown


@pytest.mark.parametrize(
    ("before", "after", "shrinking"),
    [
        (TWO, FOUR, set()),
        (FOUR, TWO, {"worker"}),
        (FOUR, {"worker": {"size": 0}}, {"worker"}),
        ({**FOUR, "nodeSets": {"gpu": {"size": 2}}}, {**TWO, "nodeSets": {"gpu": {"size": 3}}}, {"worker"}),
        ({**TWO, "nodeSets": {"gpu": {"size": 2}}}, {**TWO, "nodeSets": {"gpu": {"size": 1}}}, {"gpu"}),
        # A NodeSet that goes as a whole has no resource any more that could wait.
        ({**TWO, "nodeSets": {"gpu": {"size": 2}}}, TWO, set()),
        ({"worker": {"size": 11}}, {"worker": {"size": 10}}, {"worker"}),
    ],
    ids=["grows", "shrinks", "empties", "one of two", "the other", "goes", "two digits"],
)
def test_node_sets_that_lose_nodes_are_found_in_the_files(
    engine: Engine, before: dict[str, Any], after: dict[str, Any], shrinking: set[str]
) -> None:
    engine.deployed(settings_of(**before))
    assert change.find(settings_of(**after)).shrinking == shrinking


@pytest.mark.parametrize("dry_run", [True, False], ids=["preview", "update"])
def test_a_refused_change_stops_the_program_with_the_reason(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    monkeypatch.setattr("pulumi.runtime.is_dry_run", lambda: dry_run)
    engine.deployed(settings_of(cluster={"name": "dev"}))
    with pytest.raises(pulumi.RunError, match="This change is refused, and nothing was done") as told:
        change.find(settings_of(cluster={"name": "other"}))
    assert "ClusterName" in str(told.value)
    assert engine.shown == ""


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ({"cluster": {"namespace": "a"}}, {"cluster": {"namespace": "b"}}, "slipway:cluster.namespace"),
        ({}, {"controller": {"state": {"storageClass": "fast"}}}, "slipway:controller.state"),
        ({}, {"storage": {"jail": {"existingClaim": "root"}}}, "slipway:storage.jail"),
        (
            {"storage": {"submounts": [{"mountPath": "/home", "hostPath": "/a"}]}},
            {"storage": {"submounts": [{"mountPath": "/home", "hostPath": "/b"}]}},
            "slipway:storage.submounts /home",
        ),
    ],
    ids=["namespace", "state", "jail", "submount"],
)
def test_data_does_not_move_by_itself(engine: Engine, before: dict[str, Any], after: dict[str, Any], key: str) -> None:
    engine.deployed(settings_of(**before))
    with pytest.raises(pulumi.RunError, match="is refused") as told:
        change.find(settings_of(**after))
    assert key[:24] in str(told.value)  # as wide as the table's column is
    assert "stay behind" in " ".join(str(told.value).split())


def test_a_folder_that_is_new_or_goes_as_a_whole_is_no_move(engine: Engine) -> None:
    home = {"storage": {"submounts": [{"mountPath": "/home", "hostPath": "/a"}]}}
    engine.deployed(settings_of())
    assert change.find(settings_of(**home)) == Change(running=True)
    engine.deployed(settings_of(**home))
    assert change.find(settings_of()) == Change(running=True)


def test_a_larger_volume_is_no_other_place() -> None:
    small, large = (settings_of(storage={"jail": {"storageClass": "x", "size": size}}) for size in ("1Ti", "2Ti"))
    assert places(small) == places(large)


def test_a_diff_reads_as_reviewers_know_it() -> None:
    assert change.diff("x.conf", "a\nb\n", "a\nc\n").splitlines() == [
        "--- a/x.conf",
        "+++ b/x.conf",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
    ]
    assert change.diff("x.conf", "a\n", "a\n") == ""


def test_a_new_key_of_the_daemons_is_a_change_that_all_jobs_are_waited_for(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO))
    change.find(settings_of(**TWO, secrets={"munge": 2}))
    assert "drain-first  stack config  slipway:secrets.munge  1 -> 2" in engine.shown


def test_a_key_that_the_daemons_do_not_use_is_no_change_for_jobs(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO))
    change.find(settings_of(**TWO, secrets={"slurm": 2, "jwt": 3, "hostKeys": 4}))
    assert "drain-first" not in engine.shown


def test_a_new_key_together_with_new_files_is_refused(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO))
    with pytest.raises(pulumi.RunError, match="in an update of its own"):
        change.find(settings_of(**FOUR, secrets={"munge": 2}))


def test_a_new_key_for_tokens_is_told_with_what_becomes_of_them(engine: Engine) -> None:
    rest = {**TWO, "rest": {"enabled": True}}
    engine.deployed(settings_of(**rest))
    change.find(settings_of(**rest, secrets={"jwt": 2}))
    assert "restart-controller  stack config  slipway:secrets.jwt  1 -> 2" in engine.shown
    assert "`slipway token`" in engine.shown


def test_where_nobody_has_tokens_a_new_key_for_them_is_nothing_to_tell(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO))
    change.find(settings_of(**TWO, secrets={"jwt": 2}))
    assert "secrets.jwt" not in engine.shown


PHYSICS: dict[str, Any] = {"enabled": True, "accounts": {"physics": {"fairshare": 3}}}


def test_a_changed_account_is_shown_with_the_command_that_changes_it(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO, accounting=PHYSICS))
    change.find(settings_of(**TWO, accounting={**PHYSICS, "accounts": {"physics": {"fairshare": 5}}}))
    [shown] = engine.infos
    assert "live   account physics  Fairshare  3 -> 5" in shown
    assert "$ sacctmgr --immediate modify account where name=physics cluster=dev set Fairshare=5" in shown


def test_what_the_cluster_says_of_its_accounts_counts_more_than_the_last_deploy(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO, accounting=PHYSICS))
    engine.look["accounts"] = declared(settings_of(accounting={**PHYSICS, "accounts": {"physics": {"fairshare": 4}}}))
    change.find(settings_of(**TWO, accounting={**PHYSICS, "accounts": {"physics": {"fairshare": 5}}}))
    assert "Fairshare  4 -> 5" in engine.shown


def test_turning_accounting_off_takes_no_account_away_and_restarts_slurmctld(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO, accounting=PHYSICS))
    change.find(settings_of(**TWO))
    assert "sacctmgr" not in engine.shown
    assert "restart-controller  slurm.conf" in engine.shown


def test_the_database_does_not_move_by_itself(engine: Engine) -> None:
    engine.deployed(settings_of(**TWO, accounting=PHYSICS))
    moved = {**PHYSICS, "mariadb": {"storage": {"hostPath": "/srv/database"}}}
    with pytest.raises(pulumi.RunError, match=r"slipway:accounting\.maria"):
        change.find(settings_of(**TWO, accounting=moved))


def test_a_diff_does_not_show_what_is_secret() -> None:
    assert "hunter2" not in change.diff("slurm.conf", "", "AccountingStoragePass=hunter2\n")


def test_a_state_that_is_just_being_written_is_read_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.deployed(settings_of(**FOUR))
    calls = iter([Exception("failed to load checkpoint: EOF"), Exception("unexpected end of JSON input")])

    def invoke(token: str, arguments: dict[str, Any]) -> Any:
        if problem := next(calls, None):
            raise problem
        return engine.invoke(token, arguments)

    monkeypatch.setattr("pulumi.runtime.invoke", invoke)
    assert change.find(settings_of(**TWO)).shrinking == {"worker"}


def test_a_state_that_cannot_be_read_ends_the_run(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def invoke(*_: Any) -> Any:
        raise Exception("permission denied")

    monkeypatch.setattr("pulumi.runtime.invoke", invoke)
    monkeypatch.setattr("components.change.READ_PAUSE", 0)
    with pytest.raises(pulumi.RunError, match="cannot be read: permission denied"):
        change.find(settings_of(**TWO))


WATCHED: dict[str, Any] = {**TWO, "monitoring": {"enabled": True}}
API = "monitoring.coreos.com/v1"


def test_kinds_that_not_every_cluster_has_are_asked_for_where_they_are_wanted(engine: Engine) -> None:
    engine.look = {"kinds": ["PodMonitor", "Probe"]}
    assert change.find(settings_of(**WATCHED)).kinds == ("PodMonitor",)
    assert engine.ran["environment"]["SLIPWAY_API"] == API


@pytest.mark.parametrize("keys", [TWO, {**TWO, "monitoring": {"enabled": True, "podMonitor": "on", "rules": "off"}}])
def test_kinds_are_not_asked_for_where_nobody_wants_to_know(engine: Engine, keys: dict[str, Any]) -> None:
    assert change.find(settings_of(**keys)).kinds == ()
    assert "SLIPWAY_API" not in engine.ran["environment"]


def test_where_kubernetes_does_not_tell_the_last_update_knows(engine: Engine) -> None:
    settings = settings_of(**WATCHED)
    engine.deployed(settings)
    assert engine.outputs
    engine.outputs["deployed"] = change.deployed(settings, Change(kinds=("PodMonitor",)))
    assert change.find(settings).kinds == ("PodMonitor",)
    assert "taken as at the last update (PodMonitor)" in engine.shown
    engine.look["kinds"] = []
    assert change.find(settings).kinds == (), "it says that there are none"
