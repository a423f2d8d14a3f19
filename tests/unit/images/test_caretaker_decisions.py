"""What the caretaker decides in which world."""

from dataclasses import replace
from typing import Any

import pytest
from caretaker.care import (
    Annotate,
    Drain,
    Patience,
    Release,
    Replace,
    Undrain,
    cordons,
    duplicates,
    left_overs,
    reboots,
    releases,
)
from caretaker.world import Machine, World

from tests.unit.images.worlds import NOW, REBOOT, kubernetes_node, node, with_machine, with_pod, world

ON = "slipway:reboot@m0/b0"
AWAY = {"away": "m0 is cordoned"}


def test_nodes_on_a_cordoned_machine_get_no_new_jobs() -> None:
    made = world(node("w-0", "MIXED"), node("w-1"), node("w-2", "IDLE+NOT_RESPONDING"))
    assert list(cordons(made)) == []
    assert list(cordons(with_machine(made, **AWAY))) == [
        Drain("w-0", "slipway:cordoned: m0 is cordoned"),
        Drain("w-2", "slipway:cordoned: m0 is cordoned"),
    ]


def test_a_pod_is_let_go_of_when_its_machine_is_to_be_emptied_and_its_jobs_have_ended() -> None:
    drained = "slipway:cordoned: m0 is cordoned"
    made = world(
        node("w-0", "MIXED+DRAIN", drained), node("w-2", "IDLE+DRAIN", drained), node("w-1", "IDLE+DRAIN", "x")
    )
    assert list(releases(made)) == [], "all machines are to stay"
    cordoned = with_machine(made, **AWAY)
    assert list(releases(cordoned)) == [Release("w-2", released=True)]
    assert list(releases(with_pod(cordoned, "w-2", released=True))) == []
    assert list(releases(with_pod(made, "w-2", released=True))) == [Release("w-2", released=False)]


def test_a_pod_where_a_job_could_still_start_is_not_let_go_of() -> None:
    assert list(releases(with_machine(world(node("w-0")), **AWAY))) == []


def test_a_pod_that_slurm_does_not_know_has_nothing_to_lose() -> None:
    made = with_machine(world(node("w-0")), **AWAY)
    assert list(releases(replace(made, nodes={}))) == [Release("w-0", released=True)]


def test_they_are_back_when_it_is_or_when_their_pod_is_elsewhere() -> None:
    made = world(node("w-0", "IDLE+DRAIN", "slipway:cordoned: m0 is cordoned"))
    assert list(cordons(made)) == [Undrain("w-0")]
    cordoned = with_machine(made, **AWAY)
    assert list(cordons(cordoned)) == []
    assert list(cordons(with_pod(cordoned, "w-0", machine=""))) == [], "a pod that is nowhere yet"
    assert list(cordons(with_pod(cordoned, "w-0", machine="m1"))) == [Undrain("w-0")]
    assert list(cordons(replace(cordoned, pods={}))) == []


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("IDLE+DRAIN", "new memory on Friday"),
        ("IDLE+DRAIN", "slipway:health: disk"),
        ("DOWN", "broken fan"),
        ("IDLE+CLOUD+POWERED_DOWN", ""),
    ],
)
def test_what_others_have_taken_out_of_service_stays_as_it_is(state: str, reason: str) -> None:
    made = world(node("w-0", state, reason))
    assert list(cordons(made)) == []
    assert list(cordons(with_machine(made, **AWAY))) == []


def test_a_machine_that_kubernetes_knows_no_more_is_away() -> None:
    made = world(node("w-0"), machines={})
    assert list(cordons(made)) == [Drain("w-0", "slipway:cordoned: m0 is gone")]


@pytest.mark.parametrize(
    ("shown", "away"),
    [
        (kubernetes_node(), ""),
        (kubernetes_node(spec={"unschedulable": True}), "m0 is cordoned"),
        (kubernetes_node(status={"conditions": [{"type": "Ready", "status": "Unknown"}]}), "m0 is not ready"),
        (kubernetes_node(spec={"taints": [{"key": "ToBeDeletedByClusterAutoscaler"}]}), "m0 is about to be removed"),
        (kubernetes_node(metadata={"name": "m0", "deletionTimestamp": "2027-01-01"}), "m0 is about to be removed"),
    ],
)
def test_a_machine_is_away_for_many_reasons(shown: dict[str, Any], away: str) -> None:
    assert Machine.read(shown).away == away


DUPLICATE_STATES = {"IDLE+DRAIN": True, "MIXED+DRAIN": False, "DOWN+DRAIN+NOT_RESPONDING": False}


@pytest.mark.parametrize("state", DUPLICATE_STATES)
def test_a_node_where_a_number_ran_twice_serves_again_when_it_is_empty(state: str) -> None:
    freed = [Undrain("w-0")] if DUPLICATE_STATES[state] else []
    assert list(duplicates(world(node("w-0", state, "Duplicate jobid"), node("w-1", state, "mine")))) == freed


def test_a_drain_of_a_pod_that_is_gone_does_not_outlive_its_successors_first_minute() -> None:
    made = world(node("w-0", "IDLE+DRAIN", "slipway:stopping"), node("w-1", "IDLE+DRAIN", "mine"))
    old = with_pod(made, "w-0", created=NOW - 61)
    assert list(left_overs(old)) == [Undrain("w-0")]
    for changes in ({"created": NOW - 59}, {"ending": True}, {"ready": False}):
        assert list(left_overs(with_pod(old, "w-0", **changes))) == []


def test_a_boot_is_known_by_its_number() -> None:
    assert Machine.read(kubernetes_node()).boot == "01234567"


def test_a_reboot_is_asked_for_when_all_nodes_of_the_machine_are_empty() -> None:
    first = node("w-0", "IDLE+DRAIN", "slipway:reboot: kernel: reboot: a task hangs")
    noted = replace(first, reason=f"{ON}: kernel: reboot: a task hangs")
    assert list(reboots(world(first, node("w-2", "MIXED"), node("w-1")), REBOOT, "ours")) == [
        Drain("w-0", noted.reason)
    ]
    assert list(reboots(world(noted, node("w-2", "MIXED"), node("w-1")), REBOOT, "ours")) == [
        Drain("w-2", noted.reason)
    ]
    busy = node("w-2", "MIXED+DRAIN", noted.reason)
    assert list(reboots(world(noted, busy), REBOOT, "ours")) == []
    empty = node("w-2", "IDLE+DRAIN", noted.reason)
    value = "ours 2027-01-15T08:00:00Z kernel: reboot: a task hangs"
    assert list(reboots(world(noted, empty, node("w-1")), REBOOT, "ours")) == [Annotate("m0", value)]
    asked = with_machine(world(noted, empty), annotations={REBOOT: value})
    assert list(reboots(asked, REBOOT, "ours")) == []


def test_after_the_boot_the_nodes_are_resumed_and_the_request_goes() -> None:
    nodes = [node("w-0", "IDLE+DRAIN", f"{ON}: kernel"), node("w-2", "IDLE+DRAIN", f"{ON}: kernel")]
    booted = with_machine(world(*nodes), boot="b9", annotations={REBOOT: "ours then"})
    assert set(reboots(booted, REBOOT, "ours")) == {Undrain("w-0"), Undrain("w-2"), Annotate("m0", None)}
    still = with_machine(booted, away="m0 is cordoned")
    assert list(reboots(still, REBOOT, "ours")) == [], "whoever has rebooted it has not given it back yet"


def test_a_pod_that_has_moved_does_not_take_its_request_along() -> None:
    made = with_pod(world(node("w-0", "IDLE+DRAIN", f"{ON}: kernel")), "w-0", machine="m1")
    assert list(reboots(made, REBOOT, "ours")) == [Undrain("w-0")]


def test_scontrol_reboot_is_a_request_too() -> None:
    requested = node("w-0", "MIXED+REBOOT_REQUESTED", "new kernel")
    assert list(reboots(world(requested, node("w-2")), REBOOT, "ours")) == [Drain("w-2", f"{ON}: new kernel")]
    drained = node("w-2", "IDLE+DRAIN", f"{ON}: new kernel")
    assert list(reboots(world(requested, drained), REBOOT, "ours")) == []
    issued = node("w-0", "IDLE+DRAIN+REBOOT_ISSUED", "new kernel")
    assert list(reboots(world(issued, drained), REBOOT, "ours")) == [
        Annotate("m0", "ours 2027-01-15T08:00:00Z new kernel")
    ]


def test_a_request_that_nobody_has_any_more_is_taken_back() -> None:
    made = with_machine(world(node("w-0")), annotations={REBOOT: "ours then why"})
    assert list(reboots(made, REBOOT, "ours")) == [Annotate("m0", None)]


@pytest.mark.parametrize("value", ["theirs then why", "by hand", ""])
def test_a_request_of_somebody_else_is_theirs(value: str) -> None:
    assert list(reboots(with_machine(world(node("w-0")), annotations={REBOOT: value}), REBOOT, "ours")) == []
    noted = node("w-0", "IDLE+DRAIN", f"{ON}: kernel")
    assert list(reboots(with_machine(world(noted), annotations={REBOOT: value}), REBOOT, "ours")) == []


def test_an_administrators_drain_does_not_stand_in_the_way_of_a_reboot_and_outlives_it() -> None:
    nodes = [node("w-0", "IDLE+DRAIN", f"{ON}: kernel"), node("w-2", "IDLE+DRAIN", "new memory")]
    assert [type(each) for each in reboots(world(*nodes), REBOOT, "ours")] == [Annotate]
    assert list(reboots(with_machine(world(*nodes), boot="b9"), REBOOT, "ours")) == [Undrain("w-0")]


DOWN = "DOWN+NOT_RESPONDING"


def later(made: World, seconds: float) -> World:
    return replace(made, now=NOW + seconds)


def test_a_pod_is_replaced_when_its_node_is_silent_for_long() -> None:
    patience = Patience(300)
    made = world(node("w-0", DOWN, "Not responding"), node("w-1"))
    assert list(patience.replacements(made)) == []
    assert list(patience.replacements(later(made, 299))) == []
    assert list(patience.replacements(later(made, 300))) == [Replace("w-0", "uid-w-0", "its node is silent for 300 s")]


def test_one_that_answers_in_between_begins_anew_and_so_does_a_new_pod() -> None:
    patience = Patience(300)
    made = world(node("w-0", DOWN))
    list(patience.replacements(made))
    list(patience.replacements(later(world(node("w-0")), 200)))
    assert list(patience.replacements(later(made, 310))) == []
    assert list(patience.replacements(later(with_pod(made, "w-0", uid="another"), 620))) == []


def test_a_pod_that_was_just_made_is_waited_for() -> None:
    patience = Patience(300)
    made = with_pod(world(node("w-0", DOWN)), "w-0", created=NOW + 200)
    list(patience.replacements(made))
    assert list(patience.replacements(later(made, 400))) == []
    assert len(list(patience.replacements(later(made, 500)))) == 1


def test_one_of_each_node_set_at_a_time() -> None:
    patience = Patience(300)
    made = world(node("w-0", DOWN), node("w-1", DOWN), node("gpu-0", DOWN))
    list(patience.replacements(made))
    replaced = list(patience.replacements(later(made, 300)))
    assert [each.pod for each in replaced if isinstance(each, Replace)] == ["w-0", "gpu-0"]
    ending = with_pod(with_pod(made, "w-0", ending=True), "gpu-0", ending=True)
    assert list(patience.replacements(later(ending, 305))) == []
    back = with_pod(world(node("w-0"), node("w-1", DOWN)), "w-0", uid="new", created=NOW + 310)
    assert [each.pod for each in patience.replacements(later(back, 320)) if isinstance(each, Replace)] == ["w-1"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("DOWN", "broken fan"),
        ("DOWN+DRAIN+NOT_RESPONDING", "new memory"),
        ("ALLOCATED+NOT_RESPONDING", ""),
        ("MIXED+DRAIN+NOT_RESPONDING", "slipway:change"),
        ("DOWN+CLOUD+POWERED_DOWN", ""),
        ("DOWN+REBOOT_ISSUED", ""),
        ("IDLE", ""),
    ],
)
def test_a_node_that_is_away_on_purpose_or_may_have_jobs_is_left_alone(state: str, reason: str) -> None:
    patience = Patience(300)
    made = world(node("w-0", state, reason))
    list(patience.replacements(made))
    assert list(patience.replacements(later(made, 9999))) == []


@pytest.mark.parametrize("change", [{"ready": False}, {"ending": True}, {"machine": ""}])
def test_a_pod_that_is_not_well_is_kubernetes_affair(change: dict[str, Any]) -> None:
    patience = Patience(300)
    made = with_pod(world(node("w-0", DOWN)), "w-0", **change)
    list(patience.replacements(made))
    assert list(patience.replacements(later(made, 9999))) == []


def test_a_lost_machine_keeps_its_pods_unless_they_may_be_taken_for_dead() -> None:
    lost = with_machine(with_pod(world(node("w-0", DOWN)), "w-0", ending=True, ready=False), ready=False, away="x")
    for leave in (False, True):
        patience = Patience(300, replace_lost=leave)
        list(patience.replacements(lost))
        found = list(patience.replacements(later(lost, 300)))
        assert found == ([Replace("w-0", "uid-w-0", "its node is silent for 300 s", force=True)] if leave else [])
    patience = Patience(300, replace_lost=True)
    not_down = replace(lost, nodes={"w-0": node("w-0", "IDLE+NOT_RESPONDING")})
    list(patience.replacements(not_down))
    assert list(patience.replacements(later(not_down, 300))) == [], "Slurm has not given its jobs back"


def test_a_pod_with_processes_that_do_not_end_is_replaced_when_no_other_job_is_left() -> None:
    patience = Patience(300)
    made = world(node("w-0", "MIXED+DRAIN", "Kill task failed"), node("w-1", "IDLE+DRAIN", "Kill task failed"))
    list(patience.replacements(made))
    assert list(patience.replacements(later(made, 300))) == [
        Replace("w-1", "uid-w-1", "its node has processes that do not end for 300 s"),
    ]


def test_a_lost_machine_does_not_keep_others_from_being_replaced() -> None:
    patience = Patience(300)
    made = with_pod(world(node("w-0", DOWN), node("w-1", DOWN)), "w-0", ending=True)
    made = with_machine(made, ready=False, away="m0 is not ready")
    list(patience.replacements(made))
    assert [each.pod for each in patience.replacements(later(made, 300)) if isinstance(each, Replace)] == ["w-1"]


def test_patience_may_be_endless() -> None:
    patience = Patience(0)
    assert list(patience.replacements(world(node("w-0", DOWN)))) == []
