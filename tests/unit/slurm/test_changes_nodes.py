"""Plans for nodes: compared one by one, and named in ranges."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm.changes import Plan, Step, plan
from slurm.hostlist import expand

HEAD = "ClusterName=dev\n"


def change(old: str, new: str) -> Plan:
    return plan({"slurm.conf": HEAD + old}, {"slurm.conf": HEAD + new})


def only(found: Plan) -> Step:
    assert len(found.steps) == 1, found.table()
    return found.steps[0]


def line(last: int, rest: str = "CPUs=2") -> str:
    hosts = f"worker-[0-{last}]"
    return f"NodeName={hosts} NodeHostname={hosts} NodeAddr={hosts}.worker.ns2.svc {rest}\n"


def test_numbers_after_the_brackets_of_a_name_do_not_confuse() -> None:
    step = only(
        change("NodeName=n[1-3]x2 NodeAddr=a[1-3]\n", "NodeName=n1x2 NodeAddr=a1\nNodeName=n[2-3]x2 NodeAddr=a[2,4]\n")
    )
    assert (step.object, step.key, step.old, step.new) == ("node n3x2", "NodeAddr", "a3", "a4")


def test_growing_is_only_the_new_nodes() -> None:
    step = only(change(line(1), line(3)))
    assert (step.cls, step.object, step.key, step.old) == ("reconfigure", "node worker-[2-3]", "NodeName", None)
    assert step.commands == ("scontrol reconfigure",)
    assert (step.nodes, step.nodesets, step.touches_jobs) == ("worker-[2-3]", ("worker",), False)


def test_nodes_that_leave_are_drained_first() -> None:
    step = only(change(line(3) + "PartitionName=main Nodes=ALL\n", line(1) + "PartitionName=main Nodes=ALL\n"))
    assert (step.cls, step.object, step.key, step.new) == ("drain-first", "node worker-[2-3]", "NodeName", None)
    assert step.commands == ("scontrol update 'NodeName=worker-[2-3]' State=DRAIN Reason=slipway:change",)
    assert (step.partitions, step.touches_jobs) == (("main",), True)


@pytest.mark.parametrize(
    "new",
    [
        "NodeName=n[1-2] CPUs=2 NodeAddr=10.0.0.[1-2]\nNodeName=n[3-4] CPUs=2 NodeAddr=10.0.0.[3-4]",
        "NodeName=n1 CPUs=2 NodeAddr=10.0.0.1\nNodeName=n2 CPUs=2 NodeAddr=10.0.0.2\n"
        "NodeName=n[3-4] CPUs=2 NodeAddr=10.0.0.[3-4]",
        "NodeName=DEFAULT CPUs=2\nNodeName=n[4,1-3] NodeAddr=10.0.0.[4,1-3]",
        "NodeName=n[1-2] CPUs=2 NodeAddr=[10].0.0.[1-2]\nNodeName=n[3-4] CPUs=2 NodeAddr=10.0.0.3,10.0.[0].4",
        "NodeName=n[1-4] Procs=2 NodeAddr=10.0.0.1,10.0.0.[2-4] NodeHostname=n[1-4] Weight=1 State=UNKNOWN",
    ],
)
def test_splitting_lines_is_no_change(new: str) -> None:
    assert change("NodeName=n[1-4] CPUs=2 NodeAddr=10.0.0.[1-4]", new) == Plan()


@pytest.mark.parametrize(
    ("old", "new", "command"),
    [
        ("", "Weight=5", "Weight=5"),
        ("Weight=5", "", "Weight=1"),
        ("Feature=a", "Features=b,c", "AvailableFeatures=b,c ActiveFeatures=b,c"),
        ("Feature=a", "", "AvailableFeatures= ActiveFeatures="),
        ("", "Topology=default:s1", "Topology=default:s1"),
        ("CpuBind=core", "", "CpuBind=off"),
        ("NodeAddr=a[0-3]", "NodeAddr=b[10-13]", "NodeAddr=b[10-13]"),
        ("NodeAddr=a[0-3].svc1", "", "NodeAddr=n[0-3]"),
    ],
)
def test_live_fields_name_the_exact_command(old: str, new: str, command: str) -> None:
    step = only(change(f"NodeName=n[0-3] {old}\n", f"NodeName=n[0-3] {new}\n"))
    assert step.cls == "live"
    assert shlex.split(step.commands[0]) == ["scontrol", "update", "NodeName=n[0-3]", *command.split()]


def test_a_live_field_is_set_only_on_nodes_that_slurm_knows() -> None:
    found = change(line(1, "Weight=1"), line(3, "Weight=9"))
    assert [(step.cls, step.object) for step in found.steps] == [
        ("live", "node worker-[0-1]"),
        ("reconfigure", "node worker-[2-3]"),
    ]
    assert found.steps[0].commands == ("scontrol update 'NodeName=worker-[0-1]' Weight=9",)


def test_equal_changes_of_several_lines_are_one_step() -> None:
    step = only(change("NodeName=a[0-1]\nNodeName=b[0-1]\n", "NodeName=a[0-1] Weight=3\nNodeName=b[0-1] Weight=3\n"))
    assert (step.object, step.nodesets) == ("node a[0-1],b[0-1]", ("a", "b"))


@pytest.mark.parametrize(
    ("old", "new", "key", "cls"),
    [
        ("CPUs=2", "CPUs=4", "CPUs", "drain-first"),
        ("Gres=gpu:2", "Gres=gpu:4", "Gres", "drain-first"),
        ("RealMemory=1000", "RealMemory=2000", "RealMemory", "restart-workers"),
        ("Port=[7000-7003]", "Port=[7001-7004]", "Port", "restart-workers"),
        ("TmpDisk=1", "TmpDisk=2", "TmpDisk", "reconfigure"),
        ("", "State=DRAIN", "State", "reconfigure"),
        ("", "State=CLOUD", "State", "drain-first"),
        ("State=CLOUD", "", "State", "drain-first"),
        ("State=CLOUD", "State=CLOUD SuspendTime=60", "SuspendTime", "reconfigure"),
        ("", "State=DOWN", "State", "drain-first"),
        ("Topology=a:b", "", "Topology", "reconfigure"),
        ("", "NodeAddr=gateway", "NodeAddr", "reconfigure"),
        ("", "Colour=red", "Colour", "refused"),
        ("Colour=red", "", "Colour", "reconfigure"),
    ],
)
def test_fields_get_their_class(old: str, new: str, key: str, cls: str) -> None:
    step = only(change(f"NodeName=n[0-3] {old}\n", f"NodeName=n[0-3] {new}\n"))
    assert (step.object, step.key, step.cls) == ("node n[0-3]", key, cls)


def test_features_that_a_nodeset_goes_by_take_a_reconfigure() -> None:
    rest = "NodeSet=fast Feature=fast\n"
    step = only(change(f"NodeName=n1 Feature=a\n{rest}", f"NodeName=n1 Feature=a,fast\n{rest}"))
    assert (step.cls, step.key, step.nodesets) == ("reconfigure", "Features", ("fast", "n"))
    assert only(change(f"NodeName=n1 Feature=a\n{rest}", f"NodeName=n1 Feature=b\n{rest}")).cls == "live"


def test_a_node_moves_in_a_topology_live_only_if_the_topology_stays() -> None:
    old = {"slurm.conf": "NodeName=n1 Topology=t:s1\n", "topology.yaml": "a"}
    new = {"slurm.conf": "NodeName=n1 Topology=t:s2\n"}
    assert plan(old, new | {"topology.yaml": "a"}).cls == "live"
    assert plan(old, new | {"topology.yaml": "b"}).cls == "reconfigure"


def test_unknown_fields_of_new_nodes_are_refused() -> None:
    found = change("", "NodeName=n1 Colour=red\n")
    assert [(step.cls, step.key) for step in found.steps] == [("refused", "Colour"), ("reconfigure", "NodeName")]


def test_nodes_that_the_file_takes_down_are_drained_first() -> None:
    nodes = "NodeName=n[0-3]\n"
    step = only(change(nodes, f"{nodes}DownNodes=n[0-1]\n"))
    assert (step.cls, step.object, step.key, step.nodes) == ("drain-first", "node n[0-1]", "DownNodes", "n[0-1]")
    assert only(change(nodes, f"{nodes}DownNodes=n0 State=DRAIN\n")).cls == "reconfigure"
    assert only(change(f"{nodes}DownNodes=n0\n", nodes)).cls == "reconfigure"
    assert change(f"{nodes}DownNodes=n0\n", f"DownNodes=n0\n{nodes}") == Plan()


def test_a_node_in_two_lines_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"node n2 is in two lines, NodeName=n\[1-2\] and NodeName=n\[2-3\]"):
        change("", "NodeName=n[1-2]\nNodeName=n[2-3]\n")


def test_nodes_without_numbers_and_odd_addresses_are_compared_too() -> None:
    step = only(change("NodeName=login NodeAddr=fe80::1%eth0\n", "NodeName=login NodeAddr=fe80::2%eth0\n"))
    assert step.commands == ("scontrol update NodeName=login NodeAddr=fe80::2%eth0",)
    assert only(change("NodeName=login\n", "NodeName=other\nNodeName=login\n")).object == "node other"


def test_a_list_of_addresses_of_another_length_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"NodeName=n\[1-3\]: 3 nodes, but NodeAddr=a\[1-2\] is a list of 2"):
        change("", "NodeName=n[1-3] NodeAddr=a[1-2]\n")


def test_nodesets_change_at_a_reconfigure() -> None:
    rest = "NodeName=n[0-3]\nPartitionName=p Nodes=s\n"
    step = only(change(f"NodeSet=s Nodes=n[0-1]\n{rest}", f"NodeSet=s Nodes=n[0-2]\n{rest}"))
    assert (step.cls, step.object, step.key) == ("reconfigure", "nodeset s", "Nodes")
    assert (step.nodesets, step.partitions, step.nodes) == (("s",), ("p",), "n[0-2]")
    assert change(f"NodeSet=s Nodes=n[0-1]\n{rest}", f"NodeSet=s Nodes=n1,n0\n{rest}") == Plan()


def test_unknown_fields_of_nodesets_are_refused() -> None:
    found = change("NodeName=n0\n", "NodeName=n0\nNodeSet=s Nodes=n0 Colour=red\n")
    assert [(step.cls, step.key) for step in found.steps] == [("refused", "Colour"), ("reconfigure", "NodeSet")]
    old, new = "NodeSet=s Colour=red\n", "NodeSet=s Colour=blue\n"
    assert only(change(old, new)).cls == "refused"
    assert only(change(old, "NodeSet=s\n")).cls == "reconfigure"


# Nodes with fields of their own, written in lines that are cut at random places.
fields = st.fixed_dictionaries({}, optional={"Weight": st.sampled_from("123"), "CPUs": st.sampled_from("24")})
clusters = st.dictionaries(st.integers(0, 30), st.tuples(fields, st.sampled_from(["a", "b"])), max_size=12)
cuts = st.sets(st.integers(0, 30))


def written(nodes: dict[int, tuple[dict[str, str], str]], cut: set[int]) -> str:
    """One line for neighbours that are alike, unless there is a cut before one of them."""
    lines: list[tuple[list[int], tuple[dict[str, str], str]]] = []
    for number in sorted(nodes):
        if lines and lines[-1][1] == nodes[number] and lines[-1][0][-1] == number - 1 and number not in cut:
            lines[-1][0].append(number)
        else:
            lines.append(([number], nodes[number]))
    text = ""
    for numbers, (values, net) in lines:
        span = f"[{numbers[0]}-{numbers[-1]}]"
        text += (
            f"NodeName=n{span} NodeAddr={net}{span}.ns7 "
            + " ".join(f"{key}={value}" for key, value in values.items())
            + "\n"
        )
    return text


@given(clusters, cuts, cuts)
def test_however_lines_are_cut_equal_nodes_are_equal(nodes: dict, one: set[int], other: set[int]) -> None:
    assert change(written(nodes, one), written(nodes, other)) == Plan()


@given(clusters, clusters, cuts, cuts)
def test_every_difference_of_every_node_is_in_exactly_one_step(
    old: dict, new: dict, one: set[int], other: set[int]
) -> None:
    expected = {(f"n{number}", "NodeName") for number in old.keys() ^ new.keys()}
    for number in old.keys() & new.keys():
        before, after = ({"Weight": "1", "NodeAddr": net} | values for values, net in (old[number], new[number]))
        expected |= {(f"n{number}", key) for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    steps = change(written(old, one), written(new, other)).steps
    found = [(name, step.key) for step in steps for name in expand(step.nodes)]
    assert sorted(found) == sorted(expected)
    assert all(step.object == f"node {step.nodes}" for step in steps)


@given(clusters, clusters)
def test_live_commands_leave_every_node_as_the_file_says(old: dict, new: dict) -> None:
    addresses = {f"n{number}": f"{net}{number}.ns7" for number, (_, net) in old.items()}
    for step in change(written(old, set()), written(new, set())).steps:
        if step.key == "NodeAddr":
            _, _, names, values = shlex.split(step.commands[0])
            pairs = zip(expand(names.partition("=")[2]), expand(values.partition("=")[2]), strict=True)
            addresses |= dict(pairs)
    assert all(addresses[f"n{number}"] == f"{new[number][1]}{number}.ns7" for number in old.keys() & new.keys())
