"""Plans for dynamic NodeSets, whose nodes stand in no file that Slurm reads."""

import pytest

from config import Settings
from config.node_sets import NodeSet
from config.partitions import Partition
from slurm.changes import Plan, Step, plan
from slurm.render import render


def files(**about: object) -> dict[str, str]:
    """One static worker, and a dynamic NodeSet in the partition `main`."""
    wanted = NodeSet.model_validate({"kind": "dynamic", "size": 4, "max_size": 8} | about, by_name=True)
    return render(Settings(node_sets={"burst": wanted}, partitions={"main": Partition(default=True)}))


def only(found: Plan) -> Step:
    assert len(found.steps) == 1, found.table()
    return found.steps[0]


def test_the_file_is_there_only_with_dynamic_nodesets_and_says_that_slurm_does_not_read_it() -> None:
    assert "dynamic-nodes.conf" not in render(Settings())
    text = files()["dynamic-nodes.conf"]
    assert "# Slurm does not read this file." in text
    assert text.endswith("\nNodeName=burst-[0-3] CPUs=1 RealMemory=1024 Feature=burst\n")
    assert "NodeName=" not in files(size=0)["dynamic-nodes.conf"]


def test_nodes_that_leave_are_drained_first() -> None:
    step = only(plan(files(), files(size=2)))
    assert (step.cls, step.object, step.key, step.new) == ("drain-first", "node burst-[2-3]", "NodeName", None)
    assert step.commands == ("scontrol update 'NodeName=burst-[2-3]' State=DRAIN Reason=slipway:change",)
    assert (step.nodes, step.nodesets, step.partitions) == ("burst-[2-3]", ("burst",), ("main",))
    assert step.touches_jobs


def test_nodes_that_come_make_themselves_known() -> None:
    step = only(plan(files(), files(size=6)))
    assert (step.cls, step.object, step.commands) == ("live", "node burst-[4-5]", ())
    assert "make themselves known" in step.reason
    assert not step.touches_jobs


def test_a_nodeset_that_goes_is_drained_first() -> None:
    found = plan(files(), render(Settings()))
    drained = next(step for step in found.steps if step.object == "node burst-[0-3]")
    assert (found.cls, drained.cls, drained.nodesets, drained.partitions) == (
        "drain-first",
        "drain-first",
        ("burst",),
        ("main",),
    )
    assert found.steps[0] is drained


@pytest.mark.parametrize(
    ("about", "key", "values"),
    [
        ({"weight": 5}, "Weight", (None, "5")),
        ({"cpus": 2}, "CPUs", ("1", "2")),
        ({"features": ["fast"]}, "Features", ("burst", "burst,fast")),
    ],
)
def test_what_a_node_says_of_itself_changes_when_it_starts_anew(
    about: dict[str, object], key: str, values: tuple[str | None, str]
) -> None:
    found = plan(files(), files(**about))
    [step] = [step for step in found.steps if step.object == "node burst-[0-3]"]
    assert (step.cls, step.key, (step.old, step.new)) == ("restart-workers", key, values)
    assert (step.nodes, step.nodesets, step.partitions) == ("burst-[0-3]", ("burst",), ("main",))
    assert step.touches_jobs


def test_growing_and_changing_are_told_apart() -> None:
    found = plan(files(), files(size=6, weight=5))
    assert [(step.cls, step.object) for step in found.steps] == [
        ("live", "node burst-[4-5]"),
        ("restart-workers", "node burst-[0-3]"),
    ]


def test_a_nodeset_that_becomes_static_is_drained_and_comes_back() -> None:
    static = render(Settings(node_sets={"burst": NodeSet(size=4)}))
    steps = {(step.cls, step.object) for step in plan(files(), static).steps}
    assert {("drain-first", "node burst-[0-3]"), ("reconfigure", "node burst-[0-3]")} <= steps


def test_an_unknown_field_is_refused() -> None:
    name = "dynamic-nodes.conf"
    old = files()
    new = old | {name: old[name].replace("CPUs=1", "CPUs=1 Colour=red")}
    assert (only(plan(old, new)).cls, only(plan(old, new)).key) == ("refused", "Colour")
    assert plan({"slurm.conf": old["slurm.conf"]}, new).refused


def test_the_whole_cluster_counts_dynamic_nodes_too() -> None:
    old, new = (files() | {"slurm.conf": files()["slurm.conf"] + more} for more in ("", "SwitchType=switch/x\n"))
    assert only(plan(old, new)).nodes == "burst-[0-3],worker-0"
