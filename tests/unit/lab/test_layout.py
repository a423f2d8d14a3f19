"""A lab's addresses follow from its slot and never meet those of another lab."""

import json
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import cli, layout
from lab.layout import SLOTS, Lab
from lab.problem import Problem

labs = st.builds(Lab, st.just("x"), st.integers(0, SLOTS - 1), st.integers(1, 8))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    return tmp_path


@given(labs)
def test_nodes_pods_and_services_share_a_network_and_no_address(lab: Lab) -> None:
    parts = [IPv4Network(lab.services), *(IPv4Network(node.pod_subnet) for node in lab.nodes)]
    assert all(part.subnet_of(IPv4Network(lab.network)) for part in parts)
    assert not any(one.overlaps(other) for i, one in enumerate(parts) for other in parts[:i])
    addresses = [IPv4Address(lab.bridge_address), *(IPv4Address(node.address) for node in lab.nodes)]
    assert len(set(addresses)) == len(addresses)
    assert not any(address in part for address in addresses for part in parts)
    assert IPv4Address(lab.dns) in parts[0]


@given(labs, labs)
def test_labs_in_different_slots_have_nothing_in_common(one: Lab, other: Lab) -> None:
    if one.slot != other.slot:
        assert not IPv4Network(one.network).overlaps(IPv4Network(other.network))
        assert one.loopback != other.loopback
        assert one.bridge != other.bridge


@given(labs)
def test_interface_names_fit_the_kernel_and_node_ports_are_on_loopback(lab: Lab) -> None:
    assert all(len(node.interface) <= 15 for node in lab.nodes)
    assert IPv4Address(lab.loopback).is_loopback


def test_a_lab_enforces_network_policies_only_if_it_was_asked_to(cache: Path) -> None:
    lab = layout.choose("other", 1)
    lab.save()
    assert not lab.enforces
    assert cli._marks("fresh", enforcing=True) == [layout.ENFORCES]
    assert cli._marks("other", cli.RUN, enforcing=False) == [cli.RUN]
    with pytest.raises(Problem, match="Lab other does not enforce NetworkPolicies"):
        cli._marks("other", enforcing=True)
    (lab.home / layout.ENFORCES).touch()
    assert lab.enforces
    assert cli._marks("other", enforcing=True) == [layout.ENFORCES]


@pytest.mark.parametrize("name", ["", "Upper", "with space", "../up", "a" * 17, "1st"])
def test_a_name_that_could_not_name_a_folder_or_a_cgroup_is_refused(cache: Path, name: str) -> None:
    with pytest.raises(Problem, match="cannot name a lab"):
        layout.choose(name, 1)


def test_the_dev_lab_is_always_on_the_address_that_everybody_knows(cache: Path) -> None:
    layout.choose("other", 1).save()
    assert layout.choose("dev", 1).loopback == "127.0.0.1"


def test_a_new_lab_takes_the_first_free_place_and_the_last_one_says_so(cache: Path) -> None:
    for number in range(1, SLOTS):
        lab = layout.choose(f"lab-{number}", 1)
        assert lab.slot == number
        lab.save()
    with pytest.raises(Problem, match="All 5 places"):
        layout.choose("one-more", 1)


def test_a_lab_is_found_again_as_it_was(cache: Path) -> None:
    lab = layout.choose("again", 3)
    lab.save()
    assert layout.choose("again", 3) == lab
    with pytest.raises(Problem, match="runs with 3 compute"):
        layout.choose("again", 2)


@pytest.mark.parametrize("record", ["", "{", "[]", json.dumps({"unexpected": 1})])
def test_a_broken_record_counts_as_none(cache: Path, record: str) -> None:
    home = cache / "labs" / "broken"
    home.mkdir(parents=True)
    (home / "lab.json").write_text(record)
    assert layout.find("broken") is None


def test_an_unknown_node_is_answered_with_the_known_ones() -> None:
    with pytest.raises(Problem, match="control-plane, system-0, compute-0, compute-1"):
        Lab("x", 0, 2).node("compute-7")
