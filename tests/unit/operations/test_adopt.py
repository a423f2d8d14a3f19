"""The stack config that keeps what was changed live, and what there is none for."""

from typing import Any

import pytest

from config import Settings
from operations.adopt import adopt
from operations.drift import Drift
from operations.shown import Shown
from slurm.conf import parse
from slurm.render import render

NODES = {name: {"State": "IDLE"} for name in ("worker-0", "worker-1", "gpu-0", "gpu-1")}
# As scontrol shows a partition that was made with a few fields.
EXTRA = {
    "PartitionName": "extra",
    **{"AllowGroups": "physics", "AllowAccounts": "ALL", "AllowQos": "ALL", "AllocNodes": "ALL", "Default": "NO"},
    **{"QoS": "N/A", "DefaultTime": "01:00:00", "DisableRootJobs": "NO", "ExclusiveUser": "YES", "ExclusiveTopo": "NO"},
    **{
        "GraceTime": "30",
        "Hidden": "NO",
        "MaxNodes": "UNLIMITED",
        "MaxTime": "2-00:00:00",
        "MinNodes": "0",
        "LLN": "YES",
    },
    **{"MaxCPUsPerNode": "UNLIMITED", "Nodes": "gpu-[0-1]", "PriorityJobFactor": "1", "PriorityTier": "7"},
    **{"RootOnly": "NO", "ReqResv": "NO", "OverSubscribe": "NO", "OverTimeLimit": "NONE", "PreemptMode": "OFF"},
    **{"State": "UP", "TotalCPUs": "4", "TotalNodes": "2", "SelectTypeParameters": "NONE"},
    **{"JobDefaults": "DefCpuPerGPU=4", "DefMemPerNode": "2048", "MaxMemPerNode": "UNLIMITED", "TRES": "cpu=4,node=2"},
}


def kept(*found: Drift, **partitions: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    return adopt(list(found), Shown({}, partitions, NODES))


def conf(config: dict[str, Any]) -> Any:
    """The slurm.conf of a stack that takes this config over."""
    stack = {key.removeprefix("slipway:"): value for key, value in config.items()}
    main = {"nodeSets": ["worker"], "default": True, **stack.get("partitions", {}).pop("main", {})}
    given = {
        **stack,
        "worker": {"size": 2, **stack.get("worker", {})},
        "nodeSets": {"gpu": {"size": 2}},
        "partitions": {"main": main, **stack.get("partitions", {})},
        "images": {"registry": "registry.example.com/slipway", "tag": "1"},
    }
    return parse(render(Settings.model_validate(given))["slurm.conf"])


@pytest.mark.parametrize(
    ("key", "shown", "written"),
    [
        ("KillWait", "60 sec", "60"),
        ("OverTimeLimit", "5 min", "5"),
        ("EpilogMsgTime", "2000 usec", "2000"),
        ("VSizeFactor", "110 percent", "110"),
        ("SchedulerParameters", "bf_continue,bf_interval=60", "bf_continue,bf_interval=60"),
        ("PriorityMaxAge", "7-00:00:00", "7-00:00:00"),
        ("MaxJobCount", "50000", "50000"),
    ],
)
def test_a_key_is_given_as_slurm_conf_takes_it(key: str, shown: str, written: str) -> None:
    config, unable = kept(Drift("slurm.conf", key, "1", shown))
    assert unable == []
    assert conf(config).keys[key] == written


@pytest.mark.parametrize(
    ("key", "shown", "why"),
    [
        ("DebugFlags", "(null)", "take it out of the stack config"),
        ("Prolog", None, "take it out of the stack config"),
        ("SlurmUser", "slurm(64030)", "is not how slurm.conf takes it"),
        ("SomethingElse", "4 of 5", "is not how slurm.conf takes it"),
        ("TaskPlugin", "task/none", "set slurm.cgroup"),
        ("KeepAliveTime", "SYSTEM_DEFAULT", ""),
    ],
)
def test_a_key_that_cannot_be_written_back_is_named_with_the_reason(key: str, shown: str | None, why: str) -> None:
    config, [unable] = kept(Drift("slurm.conf", key, "1", shown))
    assert config == {}
    assert unable.startswith(f"slurm.conf {key}: ")
    assert why in unable


def test_fields_of_a_partition_become_its_settings() -> None:
    fields = {
        **{"MaxTime": "2-00:00:00", "PriorityTier": "7", "AllowGroups": "physics,chemistry", "Hidden": "YES"},
        **{"LLN": "YES", "DefMemPerCPU": "512", "GraceTime": "90", "MaxNodes": "UNLIMITED", "DefaultTime": "NONE"},
        **{"Nodes": "gpu-[0-1],worker-[0-1]", "JobDefaults": "DefMemPerGPU=1024", "TRESBillingWeights": "CPU=1.0"},
    }
    config, unable = kept(*(Drift("partition main", key, "", value) for key, value in fields.items()))
    assert unable == []
    line = conf(config).partitions["main"]
    expected = {
        **{"MaxTime": "2-00:00:00", "PriorityTier": "7", "AllowGroups": "physics,chemistry", "Hidden": "YES"},
        **{"LLN": "YES", "DefMemPerCPU": "512", "GraceTime": "90", "Nodes": "worker-[0-1],gpu-[0-1]"},
        **{"DefMemPerGPU": "1024", "TRESBillingWeights": "CPU=1.0"},
    }
    assert {key: line.get(key) for key in expected} == expected
    assert "DefaultTime" not in line
    assert "MaxNodes" not in line


def test_a_partition_that_was_made_live_is_taken_over_as_a_whole() -> None:
    config, unable = kept(Drift("partition extra", "PartitionName", None, "extra"), extra=EXTRA)
    assert unable == []
    line = conf(config).partitions["extra"]
    expected = {
        **{"Nodes": "gpu-[0-1]", "MaxTime": "2-00:00:00", "DefaultTime": "01:00:00", "PriorityTier": "7"},
        **{"AllowGroups": "physics", "Exclusive": "USER", "GraceTime": "30", "LLN": "YES", "DefCpuPerGPU": "4"},
        **{"DefMemPerNode": "2048", "State": "UP"},
    }
    assert {key: line.get(key) for key in expected} == expected


@pytest.mark.parametrize("nodes", ["gpu-0", "(null)"])
def test_a_partition_of_some_nodes_of_a_node_set_cannot_be_said(nodes: str) -> None:
    made = {**EXTRA, "Nodes": nodes}
    config, unable = kept(Drift("partition extra", "PartitionName", None, "extra"), extra=made)
    assert unable == [f"partition extra PartitionName: a partition has whole NodeSets, and {nodes} is none"]
    assert config == {}


def test_a_partition_that_was_deleted_is_for_the_user_to_take_out() -> None:
    config, [unable] = kept(Drift("partition old", "PartitionName", "old", None))
    assert config == {}
    assert "it was deleted: take it out of slipway:partitions" in unable


def test_nodes_are_kept_where_the_whole_node_set_is_alike() -> None:
    config, unable = kept(
        Drift("node worker-0", "Weight", "1", "9"),
        Drift("node worker-1", "Weight", "1", "9"),
        Drift("node worker-0", "AvailableFeatures", "worker", "worker,fast"),
        Drift("node gpu-0", "Weight", "1", "9"),
        Drift("node gpu-1", "Weight", "1", "8"),
        Drift("node gpu-1", "RealMemory", "1", "8"),
        Drift("node gpu-2", "NodeName", "gpu-2", None),
        Drift("ConfigMap slurm-config", "slurm.conf", "as applied", "edited"),
    )
    assert config == {"slipway:worker": {"weight": 9, "features": ["fast"]}}
    assert [each.partition(":")[0] for each in unable] == [
        *("node gpu-0 Weight", "node gpu-1 Weight", "node gpu-1 RealMemory", "node gpu-2 NodeName"),
        "ConfigMap slurm-config slurm.conf",
    ]
    assert conf(config).nodes["worker-[0-1]"]["Weight"] == "9"
