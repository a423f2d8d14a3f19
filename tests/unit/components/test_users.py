"""Who may log in, as the Job that makes it so is told."""

import json

from components.users import declared
from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy, settings_of


def test_the_job_is_told_of_every_user(small: Made) -> None:
    told = json.loads(small("ConfigMap", "users").data["users.json"])
    alice = {"name": "alice", "uid": 10001, "gid": 10001, "groups": [], "shell": "/bin/bash", "keys": [stacks.KEY]}
    assert told == {"users": [alice], "groups": [{"name": "alice", "gid": 10001}]}


def test_a_user_without_a_primary_group_gets_one_to_itself() -> None:
    settings = settings_of(
        users=[{"name": "alice", "uid": 10001, "groups": ["physics"]}, {"name": "bob", "uid": 10002, "gid": 20001}],
        groups=[{"name": "physics", "gid": 20001}],
    )
    told = declared(settings)
    assert {each["name"]: each["gid"] for each in told["users"]} == {"alice": 10001, "bob": 20001}
    assert {each["name"]: each["gid"] for each in told["groups"]} == {"alice": 10001, "physics": 20001}
    assert told["users"][0]["groups"] == ["physics"]


def test_a_group_may_have_the_name_of_the_user_whose_primary_group_it_is() -> None:
    settings = settings_of(
        users=[{"name": "alice", "uid": 10001, "gid": 20001}], groups=[{"name": "alice", "gid": 20001}]
    )
    assert declared(settings)["groups"] == [{"name": "alice", "gid": 20001}]


def test_nobody_is_declared_where_there_are_no_users(given: Made) -> None:
    assert json.loads(given("ConfigMap", "users").data["users.json"]) == {"users": [], "groups": []}


def test_the_job_reads_the_table_and_runs_when_the_shared_root_is_filled(small: Made) -> None:
    pod = small.pod("Job", "apply-users")
    [container] = pod.spec["containers"]
    script, table = container["command"]
    assert script == "/usr/local/lib/slipway/users"
    [mount] = [each for each in container["volumeMounts"] if table.startswith(each["mountPath"] + "/")]
    assert mount["readOnly"] is True
    assert pod.volumes[mount["name"]]["configMap"] == {"name": "users"}
    assert table.rsplit("/", 1)[1] in small("ConfigMap", "users").data
    assert small.waits_for(pod.workload, small("Job", "populate-jail"))
    assert small.waits_for(pod.workload, small("ConfigMap", "users"))


def test_other_users_are_another_run_of_the_job_and_restart_no_pod(small: Made) -> None:
    other = deploy(**stacks.OTHER_USERS)
    before, after = (made.pod("Job", "apply-users").metadata["annotations"] for made in (small, other))
    assert before != after
    changed = [
        pod.workload.metadata["name"]
        for pod in small.pods()
        if other(pod.workload.kind, pod.workload.metadata["name"]).spec != pod.workload.spec
    ]
    assert changed == ["apply-users"]


def test_the_same_users_are_no_new_run(small: Made) -> None:
    """Whatever else changes: here the number of workers."""
    more = deploy(**stacks.SMALL, worker={"size": 5})
    assert more("Job", "apply-users").spec == small("Job", "apply-users").spec
