"""Clusters of many kinds that our own checks have nothing against, for properties of what is rendered."""

import re
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from config import Settings
from config.checks import CHECKS
from config.node_sets import Gpus, Gres, GresFlag, NodeSet, Place
from config.partitions import Exclusive, Partition
from config.slurm import Mpi, Slurm, SwitchAbove, Topology
from config.types import Duration, Interval, MemorySize
from config.users import Group

words = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
memory = st.integers(256, 1 << 20).map(lambda mib: MemorySize(mib << 20))
times = st.one_of(st.none(), st.integers(60, 10**7)).map(Duration)
features = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
partition_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(
    lambda name: name.lower() not in ("all", "default", "main")
)
# 1g.10gb and 4x are types; 4 and 10g would be counts.
gres_types = st.sampled_from(["1g.10gb", "4x", "80gb", "a100-sxm4-80gb", "mi300_x"]) | st.from_regex(
    r"[a-z0-9_][a-z0-9_.-]{0,8}", fullmatch=True
).filter(lambda word: not re.fullmatch(r"[0-9]+[kmgtp]?", word))
gpus = st.builds(
    Gpus,
    count=st.integers(1, 16),
    type=st.none() | gres_types,
    resource_name=st.sampled_from(["nvidia.com/gpu", "amd.com/gpu"]),
)

PMIX = {"PMIxTimeout": "600", "PMIxDebug": "1"}
EXTRA = {
    "DefMemPerNode": "512",
    "EnforcePartLimits": "ALL",
    "KillOnBadExit": "1",
    "KillWait": "60",
    "LaunchParameters": "use_interactive_step",
    "Licenses": "matlab:4",
    "MaxJobCount": "5000",
    "MaxMemPerNode": "2000000",
    "PreemptExemptTime": "00:10:00",
    "RebootProgram": "/sbin/reboot now",
    "SchedulerParameters": "bf_continue,bf_window=4320",
    "TmpFS": "/scratch",
    "TreeWidth": "32",
}
PARTITION_EXTRA = {
    "AllocNodes": "ALL",
    "CpuBind": "cores",
    "DisableRootJobs": "yes",
    "LLN": "yes",
    "MaxCPUsPerSocket": "4",
    "OverTimeLimit": "5",
    "ReqResv": "yes",
    "SuspendTime": "300",
}
NODE_EXTRA = {"CpuBind": "core", "MemSpecLimit": "128", "TmpDisk": "1024"}


def some_of(table: dict[str, str], most: int) -> st.SearchStrategy[dict[str, str]]:
    chosen = st.lists(st.sampled_from(sorted(table)), max_size=most, unique=True)
    return chosen.map(lambda keys: {key: table[key] for key in keys})


@st.composite
def resources(draw: st.DrawFn) -> Gres:
    """Counted, used up or not, or one for each device file."""
    count = draw(st.integers(1, 8))
    kind = draw(st.none() | gres_types)
    how = draw(st.sampled_from(["count", "no_consume", "file", "count_only"]))
    if how == "file":
        flags: list[GresFlag] = draw(st.sampled_from([[], ["explicit"]]))
        return Gres(count=count, type=kind, file=f"/dev/x[0-{count - 1}]" if count > 1 else "/dev/x0", flags=flags)
    return Gres(
        count=count, type=kind, no_consume=how == "no_consume", flags=["CountOnly"] if how == "count_only" else []
    )


@st.composite
def node_sets(draw: st.DrawFn, topology: str) -> NodeSet:
    kind = draw(st.sampled_from(("static", "static", "dynamic")))
    sockets, cores, threads = (draw(st.integers(1, 4)) for _ in range(3))
    shaped = draw(st.booleans())
    size = draw(st.integers(0 if kind == "dynamic" else 1, 12))
    return NodeSet(
        size=size,
        kind=kind,
        max_size=20 if kind == "dynamic" else None,
        cpus=sockets * cores * threads,
        sockets=sockets if shaped else None,
        cores_per_socket=cores if shaped else None,
        threads_per_core=threads if shaped else None,
        memory=draw(memory),
        gpus=draw(st.none() | gpus),
        gres=draw(st.dictionaries(words.map(lambda word: f"x{word}"), resources(), max_size=2)),
        features=draw(st.lists(features, max_size=3, unique=True)),
        weight=draw(st.integers(1, 1000)),
        topology=draw(places(topology)),
        extra=draw(some_of(NODE_EXTRA, 2)),
    )


def places(topology: str) -> st.SearchStrategy[Place | None]:
    if topology == "tree":
        return st.sampled_from(["leaf1", "leaf2"]).map(lambda name: Place(switch=name))
    if topology == "block":
        return st.sampled_from(["block1", "block2", "block3"]).map(lambda name: Place(block=name))
    return st.none()


@st.composite
def memory_limits(draw: st.DrawFn) -> dict[str, Any]:
    """One kind of default at most and one kind of limit at most, with the default below the limit."""
    made: dict[str, Any] = {}
    if default := draw(st.sampled_from(["", "def_mem_per_cpu", "def_mem_per_node", "def_mem_per_gpu"])):
        made[default] = draw(memory)
    if limit := draw(st.sampled_from(["", "max_mem_per_cpu", "max_mem_per_node"])):
        made[limit] = MemorySize(1 << 41)
    return made


@st.composite
def partitions(draw: st.DrawFn, names: list[str], topology: str, groups: list[str]) -> Partition:
    kinds: list[Exclusive] = ["NO", "NODE", "USER", *(["TOPO"] if topology != "none" else [])]
    exclusive = draw(st.sampled_from(kinds))
    shared = ["NO"] if exclusive in ("NODE", "TOPO") else ["NO", "YES", "FORCE:4"]
    return Partition(
        node_sets=draw(st.lists(st.sampled_from(names), min_size=1, unique=True) | st.just(["ALL"])),
        state=draw(st.sampled_from(["UP", "DOWN", "DRAIN", "INACTIVE"])),
        max_time=draw(times),
        priority_tier=draw(st.integers(0, 100)),
        min_nodes=draw(st.integers(0, 1)),
        max_nodes=draw(st.none() | st.integers(5, 100)),
        max_cpus_per_node=draw(st.none() | st.integers(1, 64)),
        def_cpu_per_gpu=draw(st.none() | st.integers(1, 16)),
        over_subscribe=draw(st.sampled_from(shared)),
        exclusive=exclusive,
        preempt_mode=draw(st.sampled_from([None, "OFF", "CANCEL", "REQUEUE", "SUSPEND", "WITHIN"])),
        grace_time=draw(st.none() | st.integers(0, 600).map(Interval)),
        allow_groups=draw(st.lists(st.sampled_from(groups), unique=True)) if groups else [],
        hidden=draw(st.booleans()),
        root_only=draw(st.booleans()),
        tres_billing_weights=draw(st.sampled_from([{}, {"CPU": "1.0", "Mem": "0.25G"}])),
        extra=draw(some_of(PARTITION_EXTRA, 2)),
        **draw(memory_limits()),
    )


@st.composite
def clusters(draw: st.DrawFn, alone: bool = False) -> Settings:
    """Settings of any kind; with `alone`, such that slurmctld can start without slurmdbd and the users' groups."""
    topology = draw(st.sampled_from(("none", "none", "tree", "block")))
    others = draw(st.lists(words.map(lambda word: f"{word}-set"), max_size=3, unique=True))
    worker = NodeSet(size=2, topology={"tree": Place(switch="leaf1"), "block": Place(block="block1")}.get(topology))
    sets = {name: draw(node_sets(topology)) for name in others}
    found = [each.topology for each in [worker, *sets.values()] if each.topology]
    leaves = sorted({place.switch for place in found if place.switch})
    spine = {"spine": SwitchAbove(switches=leaves)} if topology == "tree" else {}
    groups = [] if alone else draw(st.lists(words.map(lambda word: f"g{word}"), max_size=2, unique=True))
    names = ["worker", *others]
    queues = draw(st.dictionaries(partition_names, partitions(names, topology, groups), max_size=4))
    extra = draw(some_of(EXTRA, 3))
    if draw(st.booleans()):
        extra |= {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
    settings = _settings(
        {
            "cluster": {"name": "c", "auth": draw(st.sampled_from(["munge", "slurm"]))},
            "worker": worker,
            "node_sets": sets,
            "partitions": {"main": Partition(default=True), **queues},
            "groups": [Group(name=name, gid=20000 + at) for at, name in enumerate(groups)],
            "accounting": {"enabled": not alone and draw(st.booleans())},
            "rest": {"enabled": draw(st.booleans())},
            "monitoring": {"enabled": draw(st.booleans())},
            "slurm": Slurm(
                cgroup=draw(st.sampled_from(["v2", "disabled"])),
                topology=Topology(plugin=topology, switches=spine),
                mpi=Mpi(default=draw(st.sampled_from(["none", "pmi2"])), pmix=draw(st.sampled_from([{}, PMIX]))),
                private_tmp=draw(st.booleans()),
                extra=extra,
            ),
        }
    )
    assume(not [finding for check in CHECKS for finding in check(settings)])
    return settings


def _settings(sections: dict[str, Any]) -> Settings:
    return Settings.model_validate(sections, by_name=True)
