"""Plans for partitions: made, removed and updated while jobs run."""

import pytest

from slurm.changes import Plan, Step, plan
from slurm.ranges import Range, parse

NODES = "NodeName=n[0-3]\nNodeName=g[0-1]\nNodeSet=gpus Nodes=g[0-1]\n"


def change(old: str, new: str, more_nodes: str = "") -> Plan:
    return plan({"slurm.conf": NODES + old}, {"slurm.conf": NODES + more_nodes + new})


def only(found: Plan) -> Step:
    assert len(found.steps) == 1, found.table()
    return found.steps[0]


def test_a_new_partition_is_made_live_with_its_whole_line() -> None:
    step = only(change("", "PartitionName=p Nodes=n[0-3],gpus MaxTime=1-0 DefMemPerGPU=10 DefCpuPerGPU=2\n"))
    assert (step.cls, step.object, step.key, step.old) == ("live", "partition p", "PartitionName", None)
    assert step.commands == (
        "scontrol create PartitionName=p 'Nodes=n[0-3],gpus' MaxTime=1-0 JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=10",
    )
    assert (step.nodes, step.nodesets, step.partitions) == ("g[0-1],n[0-3]", ("gpus", "n"), ("p",))


def test_a_partition_that_goes_is_drained_and_then_deleted() -> None:
    step = only(change("PartitionName=p Nodes=n[0-3]\n", ""))
    assert (step.cls, step.key, step.new, step.touches_jobs) == ("drain-first", "PartitionName", None, True)
    assert step.commands == ("scontrol update PartitionName=p State=DRAIN", "scontrol delete PartitionName=p")


@pytest.mark.parametrize(
    ("old", "new", "update"),
    [
        ("MaxTime=60", "MaxTime=2:00:00", "MaxTime=2:00:00"),
        ("MaxTime=60", "", "MaxTime=UNLIMITED"),
        ("", "State=DOWN", "State=DOWN"),
        ("AllowGroups=a", "", "AllowGroups=ALL"),
        ("DenyAccounts=a", "", "DenyAccounts="),
        ("", "Alternate=q", "Alternate=q"),
        ("Alternate=q", "", "Alternate=NONE"),
        ("Default=YES", "", "Default=NO"),
        ("Shared=YES", "OverSubscribe=FORCE:4", "OverSubscribe=FORCE:4"),
        ("DefMemPerGPU=5 DefCpuPerGPU=2", "DefMemPerGPU=6 DefCpuPerGPU=2", "JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=6"),
        ("Nodes=n[0-3]", "Nodes=n[0-1],gpus", "'Nodes=n[0-1],gpus'"),
        ("Nodes=n[0-3]", "Nodes=ALL", "Nodes=ALL"),
        ("", 'QOS="a b"', "'QOS=a b'"),
    ],
)
def test_fields_are_updated_live(old: str, new: str, update: str) -> None:
    other = "PartitionName=q Nodes=n0\n"
    step = only(change(f"{other}PartitionName=p {old}\n", f"PartitionName=p {new}\n{other}"))
    quoted = f"scontrol update PartitionName=p {update}"
    assert (step.cls, step.commands) == ("live", (quoted,))
    assert not step.touches_jobs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MaxTime=60", "MaxTime=1:00:00"),
        ("MaxTime=UNLIMITED Default=NO State=UP", "maxtime=infinite"),
        ("Nodes=n[0-3]", "Nodes=n3,n[0-2]"),
        ("AllowGroups=a,b Shared=no", "AllowGroups=b,a"),
    ],
)
def test_what_means_the_same_is_no_change(old: str, new: str) -> None:
    assert change(f"PartitionName=p {old}\n", f"PartitionName=p {new}\n") == Plan()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "SuspendTime=60"),
        ("SelectTypeParameters=CR_Core", ""),
        ("DefaultTime=10", ""),
        ("DefMemPerCPU=10", ""),
        ("PreemptMode=REQUEUE", ""),
        ("DefMemPerGPU=5", ""),
        ("", "Alternate=new"),
    ],
)
def test_what_scontrol_cannot_set_takes_a_reconfigure(old: str, new: str) -> None:
    step = only(change(f"PartitionName=p {old}\n", f"PartitionName=p {new}\n"))
    assert (step.cls, step.commands) == ("reconfigure", ("scontrol reconfigure",))


def test_a_partition_with_new_nodes_waits_for_the_reconfigure_that_brings_them() -> None:
    found = change("PartitionName=p Nodes=n[0-3]\n", "PartitionName=p Nodes=n[0-5]\n", "NodeName=n[4-5]\n")
    assert [(step.cls, step.object, step.key) for step in found.steps] == [
        ("reconfigure", "node n[4-5]", "NodeName"),
        ("reconfigure", "partition p", "Nodes"),
    ]
    made = change("", "PartitionName=new Nodes=x[0-1]\n", "NodeName=x[0-1]\n")
    assert {step.cls for step in made.steps} == {"reconfigure"}


def test_nodes_that_come_or_go_are_no_change_of_a_partition_that_has_all() -> None:
    queues = "PartitionName=p Nodes=ALL\nPartitionName=q Nodes=n0\n"
    step = only(change(queues, queues, "NodeName=x[0-1]\n"))
    assert (step.object, step.key, step.partitions) == ("node x[0-1]", "NodeName", ("p",))
    made = change("", "PartitionName=p Nodes=all\n", "NodeName=x0\n")
    assert [(step.cls, step.object, step.nodes) for step in made.steps] == [
        ("live", "partition p", "g[0-1],n[0-3],x0"),
        ("reconfigure", "node x0", "x0"),
    ]


def test_nodes_that_many_partitions_share_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(text: str) -> list[Range]:
        read.append(text)
        return parse(text)

    for module in ("slurm.planning.partitions", "slurm.ranges", "slurm.hostlist"):
        monkeypatch.setattr(f"{module}.parse", counting)
    counts = []
    for many in (2, 40):
        read.clear()
        # Another number each time: what was read for one plan is of no use to the next.
        old, new = (
            "".join(f"PartitionName=p{at} Nodes=n[0-{last}],gpus MaxTime={last}\n" for at in range(many))
            for last in (many % 2 + 1, many % 2 + 2)
        )
        found = change(old, new)
        assert len(found.steps) == 2 * many
        counts.append(len(read))
    assert counts[1] <= counts[0]


def test_a_partition_of_a_nodeset_that_changes_waits_too() -> None:
    old = "NodeSet=s Nodes=n0\nPartitionName=p Nodes=n0\n"
    new = "NodeSet=s Nodes=n1\nPartitionName=p Nodes=s\n"
    assert {(step.object, step.cls) for step in change(old, new).steps} == {
        ("nodeset s", "reconfigure"),
        ("partition p", "reconfigure"),
    }


def test_a_partition_that_scontrol_cannot_make_waits_for_a_reconfigure() -> None:
    step = only(change("", "PartitionName=p Nodes=n0 SuspendTime=5\n"))
    assert step.cls == "reconfigure"
    assert "SuspendTime" in step.reason


def test_unknown_fields_are_refused_in_old_and_new_partitions() -> None:
    assert only(change("PartitionName=p\n", "PartitionName=p Colour=red\n")).cls == "refused"
    assert only(change("PartitionName=p Colour=red\n", "PartitionName=p\n")).cls == "reconfigure"
    found = change("", "PartitionName=p ExclusiveUser=YES\n")
    assert [(step.cls, step.key) for step in found.steps] == [
        ("refused", "ExclusiveUser"),
        ("reconfigure", "PartitionName"),
    ]
    assert "Exclusive=USER" in found.steps[0].reason


def test_a_partition_takes_another_topology_live_only_if_the_topologies_stay() -> None:
    old = {"slurm.conf": "PartitionName=p\n", "topology.yaml": "a"}
    new = {"slurm.conf": "PartitionName=p Topology=flat\n"}
    assert plan(old, new | {"topology.yaml": "a"}).cls == "live"
    assert {step.cls for step in plan(old, new | {"topology.yaml": "b"}).steps} == {"reconfigure"}


def test_there_is_a_default_partition_at_every_moment() -> None:
    old = "PartitionName=a Default=YES\nPartitionName=b\n"
    found = change(old, "PartitionName=a\nPartitionName=b Default=YES\n")
    assert [command for step in found.steps for command in step.commands] == [
        "scontrol update PartitionName=b Default=YES",
        "scontrol update PartitionName=a Default=NO",
    ]


def test_partitions_are_made_before_others_refer_to_them() -> None:
    found = change("PartitionName=a\n", "PartitionName=a Alternate=b\nPartitionName=b Nodes=n0\n")
    assert [(step.cls, step.object) for step in found.steps] == [("live", "partition b"), ("live", "partition a")]


def test_fields_are_emptied_before_others_are_filled() -> None:
    found = change("PartitionName=a GraceTime=9\n", "PartitionName=a MaxTime=5\n")
    assert [step.key for step in found.steps] == ["GraceTime", "MaxTime"]


def test_defaults_of_all_partitions_change_each_of_them() -> None:
    found = change(
        "PartitionName=DEFAULT MaxTime=5\nPartitionName=a\nPartitionName=b MaxTime=7\n",
        "PartitionName=DEFAULT MaxTime=6\nPartitionName=a\nPartitionName=b MaxTime=7\n",
    )
    assert only(found).commands == ("scontrol update PartitionName=a MaxTime=6",)
