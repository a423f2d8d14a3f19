"""What a stack declares to slurmdbd, and the way from one declaration to another."""

import shlex
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from config import Settings
from slurm.accounts import account_steps, declared, parts

USERS = [{"name": name, "uid": 10001 + number} for number, name in enumerate(("alice", "bob", "carol"))]


def things(**accounting: Any) -> dict[str, dict[str, str]]:
    return declared(Settings.model_validate({"accounting": {"enabled": True, **accounting}, "users": USERS}))


def commands(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    found = [command for step in account_steps(before, after, "dev") for command in step.commands]
    return [" ".join(shlex.split(command)[2:]) for command in dict.fromkeys(found)]


def test_nothing_is_declared_without_accounting() -> None:
    assert declared(Settings()) == {}
    assert things() == {}


def test_values_are_as_sacctmgr_shows_them() -> None:
    qos = {
        "maxWall": "36h",
        "maxJobsPerUser": 5,
        "maxTresPerUser": {"GRES/gpu": 4, "CPU": 8},
        "flags": ["NoDecay", "DenyOnLimit"],
        "description": "Long Jobs",
    }
    assert things(qos={"long": qos})["QOS long"] == {
        "Description": "long jobs",
        "Priority": "0",
        "MaxWall": "1-12:00:00",
        "MaxJobsPerUser": "5",
        "MaxSubmitJobsPerUser": "",
        "MaxTRESPerUser": "cpu=8,gres/gpu=4",
        "GrpTRES": "",
        "Preempt": "",
        "Flags": "DenyOnLimit,NoDecay",
    }


def test_an_account_has_the_qos_of_the_account_above_unless_it_names_its_own() -> None:
    found = things(
        qos={"long": {}, "short": {}},
        accounts={
            "low": {"parent": "middle"},
            "middle": {"parent": "top", "qos": ["short"]},
            "top": {"qos": ["normal", "long"], "defaultQos": "long"},
            "other": {},
        },
    )
    allowed = {
        name: (found[f"account {name}"]["QOS"], found[f"account {name}"]["DefaultQOS"]) for name in ("low", "top")
    }
    assert allowed == {"low": ("short", "short"), "top": ("long,normal", "long")}
    assert found["account other"]["QOS"] == "normal"
    assert [key for key in found if key.startswith("account")] == [
        "account top",
        "account middle",
        "account low",
        "account other",
    ], "parents come before their children"


def test_a_user_charges_the_first_of_their_accounts_and_who_only_administers_is_in_root() -> None:
    found = things(accounts={"a": {"users": ["bob"]}, "b": {"users": ["bob", "alice"]}}, administrators=["carol"])
    assert found["user bob"] == {"DefaultAccount": "a", "AdminLevel": "None"}
    assert {"user bob in a", "user bob in b", "user alice in b", "user carol in root"} <= set(found)
    assert found["user carol"] == {"DefaultAccount": "root", "AdminLevel": "Administrator"}


def test_new_things_are_made_in_an_order_in_which_they_can_be() -> None:
    after = things(
        qos={"high": {"preempt": ["low"]}, "low": {"priority": 3}},
        accounts={"sub": {"parent": "top", "users": ["alice"]}, "top": {"fairshare": 7}},
        operators=["alice"],
    )
    assert commands({}, after) == [
        "add qos low Description=low Priority=3",
        "add qos high Description=high Priority=0 Preempt=low",
        "add account top cluster=dev Description=top Organization=top Parent=root Fairshare=7 QOS=normal",
        "add account sub cluster=dev Description=sub Organization=sub Parent=top Fairshare=1 QOS=normal",
        "add user alice account=sub cluster=dev",
        "modify user where name=alice set AdminLevel=Operator",
    ]


def test_what_changes_is_one_command_and_one_step_for_each_field() -> None:
    before = things(qos={"long": {"maxWall": "1d", "maxTresPerUser": {"cpu": 4, "gres/gpu": 1}, "flags": ["NoDecay"]}})
    after = things(qos={"long": {"priority": 5, "maxTresPerUser": {"cpu": 8}}})
    assert commands(before, after) == [
        "modify qos where name=long set Priority=5 MaxWall=-1 MaxTRESPerUser=cpu=8,gres/gpu=-1 Flags=-1"
    ]
    steps = account_steps(before, after, "dev")
    assert [(step.cls, step.object, step.key, step.old, step.new) for step in steps][:2] == [
        ("live", "QOS long", "Priority", "0", "5"),
        ("live", "QOS long", "MaxWall", "1-00:00:00", ""),
    ]


def test_what_goes_goes_after_everything_that_rests_on_it() -> None:
    before = things(
        qos={"long": {}},
        accounts={"top": {"users": ["alice"]}, "sub": {"parent": "top", "users": ["alice", "bob"]}},
        administrators=["bob"],
    )
    assert commands(before, {}) == [
        "modify user where name=bob set AdminLevel=None",
        "delete user where name=alice account=sub cluster=dev",
        "delete user where name=alice account=top cluster=dev",
        "delete user where name=bob account=sub cluster=dev",
        "delete account where name=sub cluster=dev",
        "delete account where name=top cluster=dev",
        "delete qos where name=long",
    ]


def test_a_user_moves_to_the_new_default_before_the_old_account_goes() -> None:
    before = things(accounts={"a": {"users": ["bob"]}})
    after = things(accounts={"b": {"users": ["bob"]}})
    assert commands(before, after) == [
        "add account b cluster=dev Description=b Organization=b Parent=root Fairshare=1 QOS=normal",
        "add user bob account=b cluster=dev",
        "modify user where name=bob cluster=dev set DefaultAccount=b",
        "delete user where name=bob account=a cluster=dev",
        "delete account where name=a cluster=dev",
    ]


def test_the_qos_that_is_always_there_is_never_removed_but_put_back() -> None:
    before = things(qos={"normal": {"maxWall": "1d"}})
    assert commands(before, {}) == ["modify qos where name=normal set MaxWall=-1"]


def test_text_reaches_sacctmgr_as_one_word() -> None:
    [line] = [
        command
        for step in account_steps({}, things(accounts={"a": {"description": "x; rm -rf $HOME"}}), "dev")
        for command in step.commands
    ]
    assert "Description=x; rm -rf $home" in shlex.split(line)


accounts = st.dictionaries(
    st.sampled_from("abcd"),
    st.fixed_dictionaries({"fairshare": st.integers(1, 3), "users": st.lists(st.sampled_from(["alice", "bob"]))}),
)


@given(accounts, accounts)
def test_the_way_between_two_declarations_names_only_what_differs(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = things(accounts=old), things(accounts=new)
    assert account_steps(before, before, "dev") == ()
    steps = account_steps(before, after, "dev")
    for step in steps:
        assert before.get(step.object) != after.get(step.object)
    gone = {step.object for step in steps if step.key == "(gone)"}
    assert gone == {key for key in before if key not in after and (parts(key)[2] or not key.startswith("user"))}
