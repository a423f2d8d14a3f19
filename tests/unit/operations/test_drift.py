"""What runs otherwise than it was declared, and the config that would keep it."""

from dataclasses import replace

import pytest

from config import Settings
from operations.drift import Drift, adopt, differences, screen
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


def test_what_is_adopted_is_config_that_a_stack_takes() -> None:
    found = [
        Drift("slurm.conf", "KillWait", "30 sec", "60"),
        Drift("partition main", "MaxTime", "1-00:00:00", "2-00:00:00"),
        Drift("partition main", "PriorityTier", "1", "7"),
        Drift("partition main", "AllowGroups", "ALL", "physics,chemistry"),
        Drift("partition main", "Hidden", "NO", "YES"),
        Drift("partition main", "LLN", "NO", "YES"),
        Drift("node worker-0", "Weight", "1", "9"),
        Drift("node worker-1", "Weight", "1", "9"),
        Drift("node worker-0", "AvailableFeatures", "worker", "worker,fast"),
    ]
    config, unable = adopt(found)
    assert unable == []
    assert config["slipway:partitions"]["main"] == {
        "maxTime": "2-00:00:00",
        "priorityTier": 7,
        "allowGroups": ["physics", "chemistry"],
        "hidden": True,
        "extra": {"LLN": "YES"},
    }
    assert config["slipway:worker"] == {"weight": 9, "features": ["fast"]}
    partition = {**config["slipway:partitions"]["main"], "nodeSets": ["worker"], "default": True}
    settings = Settings.model_validate(
        {"worker": config["slipway:worker"], "partitions": {"main": partition}, "slurm": config["slipway:slurm"]}
    )
    assert str(settings.partitions["main"].max_time) == "2-00:00:00"
    assert settings.worker.weight == 9


def test_what_no_setting_keeps_is_named() -> None:
    found = [
        Drift("node worker-0", "Weight", "1", "9"),
        Drift("node worker-1", "Weight", "1", "8"),  # not the same for the whole NodeSet
        Drift("partition extra", "PartitionName", None, "extra"),
    ]
    config, unable = adopt(found)
    assert config == {}
    assert unable == ["node worker-0 Weight", "node worker-1 Weight", "partition extra PartitionName"]


def test_the_screen_says_so_if_there_is_none() -> None:
    assert screen([]).startswith("No drift")
    assert screen([Drift("partition main", "MaxTime", "1", None)]).splitlines()[1].split() == [
        *("partition", "main", "MaxTime", "1", "-")
    ]
