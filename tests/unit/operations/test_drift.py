"""What runs otherwise than it was declared, and the config that would keep it."""

from dataclasses import replace

import pytest

from operations.drift import Drift, differences, screen
from operations.shown import Shown

DECLARED = Shown(
    config={
        "BOOT_TIME": "2026-01-01T00:00:00",
        "SlurmctldPort": "16817",
        "KillWait": "30 sec",
        "SuspendTime": "INFINITE",
    },
    partitions={
        "main": {"PartitionName": "main", "MaxTime": "1-00:00:00", "Nodes": "worker-[0-1]", "AllowGroups": "ALL"}
    },
    nodes={f"worker-{at}": {"State": "UNKNOWN", "Weight": "1", "Gres": "gpu:2", "CPULoad": "0"} for at in (0, 1)},
)


def running(**fields: object) -> Shown:
    live = {name: {**each, "State": "IDLE", "CPULoad": "3"} for name, each in DECLARED.nodes.items()}
    config = {**DECLARED.config, "BOOT_TIME": "2026-02-02T00:00:00", "SlurmctldPort": "6817", "SuspendTime": "300"}
    return replace(replace(DECLARED, nodes=live, config=config), **fields)  # pyright: ignore[reportArgumentType]


def test_what_only_a_running_daemon_can_tell_is_no_drift() -> None:
    assert list(differences(DECLARED, running())) == []


def test_sockets_that_a_node_reports_for_its_devices_are_no_drift() -> None:
    nodes = {name: {**each, "Gres": "gpu:2(S:0-1)"} for name, each in running().nodes.items()}
    assert list(differences(DECLARED, running(nodes=nodes))) == []


@pytest.mark.parametrize(
    ("part", "value", "expected"),
    [
        ("config", {"KillWait": "60 sec"}, Drift("slurm.conf", "KillWait", "30 sec", "60 sec")),
        (
            "partitions",
            {"main": {**DECLARED.partitions["main"], "MaxTime": "UNLIMITED"}},
            Drift("partition main", "MaxTime", "1-00:00:00", "UNLIMITED"),
        ),
        (
            "partitions",
            {**DECLARED.partitions, "extra": {"PartitionName": "extra"}},
            Drift("partition extra", "PartitionName", None, "extra"),
        ),
        (
            "partitions",
            {"main": {**DECLARED.partitions["main"], "Nodes": "worker-0"}},
            Drift("partition main", "Nodes", "worker-[0-1]", "worker-0"),
        ),
        ("partitions", {}, Drift("partition main", "PartitionName", "main", None)),
    ],
)
def test_a_live_change_is_drift(part: str, value: dict[str, object], expected: Drift) -> None:
    changed = {**running().config, **value} if part == "config" else value
    assert list(differences(DECLARED, running(**{part: changed}))) == [expected]


def test_a_changed_node_is_drift_and_one_that_made_itself_known_is_not() -> None:
    nodes = running().nodes
    changed = {**nodes, "worker-1": {**nodes["worker-1"], "Weight": "9"}, "burst-0": {"State": "IDLE+DYNAMIC_NORM"}}
    assert list(differences(DECLARED, running(nodes=changed))) == [Drift("node worker-1", "Weight", "1", "9")]


def test_a_node_that_was_declared_and_is_not_there_is_drift() -> None:
    nodes = {name: each for name, each in running().nodes.items() if name != "worker-1"}
    partitions = {"main": {**DECLARED.partitions["main"], "Nodes": "worker-0"}}
    assert list(differences(DECLARED, running(nodes=nodes, partitions=partitions))) == [
        Drift("partition main", "Nodes", "worker-[0-1]", "worker-0"),
        Drift("node worker-1", "NodeName", "worker-1", None),
    ]


def test_the_screen_says_so_if_there_is_none() -> None:
    assert screen([]).startswith("No drift")
    assert screen([Drift("partition main", "MaxTime", "1", None)]).splitlines()[1].split() == [
        *("partition", "main", "MaxTime", "1", "-")
    ]
