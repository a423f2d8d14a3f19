"""Every field that the table calls live: the plan's own commands set it and clear it on a running slurmctld, and leave
the same as a reconfigure with the new file would."""

from collections.abc import Iterator

import pytest

from config import Settings
from config.node_sets import NodeSet, Place
from config.partitions import Partition
from config.slurm import Slurm, SwitchAbove, Topology
from slurm.keys import LINES
from slurm.render import render
from tests.cluster.daemon.live import set_and_cleared
from tests.cluster.daemon.slurmctld import Slurmctld, fitting

BASE = fitting(
    render(
        Settings(
            worker=NodeSet(size=2, topology=Place(switch="leaf1")),
            node_sets={"other": NodeSet(size=1, topology=Place(switch="leaf2"))},
            partitions={"first": Partition(default=True), "main": Partition(node_sets=["worker"])},
            slurm=Slurm(
                topology=Topology(plugin="tree", switches={"spine": SwitchAbove(switches=["leaf1", "leaf2"])}),
                extra={"PreemptType": "preempt/partition_prio", "PreemptMode": "CANCEL"},
            ),
        ),
        cgroup_v2=False,
    ),
    jail=False,
)
NODES = {
    "CpuBind": "core",
    "Features": "worker,fast",
    "NodeAddr": "127.0.0.[11-12]",
    "Topology": "default:leaf2",
    "Weight": "7",
}
NEED_ACCOUNTING = ("AllowQos", "DenyQos", "QOS")  # their turn comes where there is a slurmdbd
PARTITIONS = {
    "AllocNodes": "worker-0",
    "AllowAccounts": "physics",
    "AllowGroups": "root",
    "Alternate": "first",
    "CpuBind": "core",
    "Default": "YES",
    "DefaultTime": "10",
    "DefCpuPerGPU": "2",
    "DefMemPerCPU": "100",
    "DefMemPerGPU": "100",
    "DefMemPerNode": "100",
    "DenyAccounts": "physics",
    "DisableRootJobs": "YES",
    "Exclusive": "USER",
    "GraceTime": "60",
    "Hidden": "YES",
    "LLN": "YES",
    "MaxCPUsPerNode": "1",
    "MaxCPUsPerSocket": "1",
    "MaxMemPerCPU": "100",
    "MaxMemPerNode": "100",
    "MaxNodes": "1",
    "MaxTime": "60",
    "MinNodes": "1",
    "Nodes": "worker-0",
    "OverSubscribe": "FORCE:4",
    "OverTimeLimit": "5",
    "PowerDownOnIdle": "YES",
    "PreemptMode": "REQUEUE",
    "PriorityJobFactor": "5",
    "PriorityTier": "5",
    "ReqResv": "YES",
    "RootOnly": "YES",
    "State": "DOWN",
    "Topology": "default",
}


@pytest.fixture(scope="module")
def running(slurmctld: Slurmctld) -> Iterator[Slurmctld]:
    slurmctld.start(BASE)
    yield slurmctld
    slurmctld.stop()


CASES = [
    *(("NodeName", "worker-[0-1]", field, value) for field, value in NODES.items()),
    *(("PartitionName", "main", field, value) for field, value in PARTITIONS.items()),
    ("PartitionName", "main", "Nodes", "ALL"),
]


def test_no_live_field_is_forgotten() -> None:
    names = {kind: {field for field, entry in LINES[kind].items() if entry.cls == "live"} for kind in LINES}
    assert names["NodeName"] == set(NODES)
    assert names["PartitionName"] - {"PartitionName", *NEED_ACCOUNTING} == set(PARTITIONS)


@pytest.mark.parametrize(("kind", "name", "field", "value"), CASES, ids=["-".join(case) for case in CASES])
def test_a_live_field_is_set_and_cleared_as_a_reconfigure_would(
    running: Slurmctld, kind: str, name: str, field: str, value: str
) -> None:
    set_and_cleared(running, BASE, kind, name, field, value)
