"""A real slurmctld accepts whatever we render, and understands it as it was meant."""

import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from config import Settings
from config.node_sets import Gpus, Gres, Kind, NodeSet, Place
from config.partitions import Partition
from config.slurm import Mpi, Slurm, SwitchAbove, Topology, TopologyPlugin
from config.types import Duration, Interval, MemorySize
from slurm.render import render
from tests.cluster.daemon.slurmctld import Slurmctld, complaints

words = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
memory = st.integers(256, 1 << 20).map(lambda mib: MemorySize(mib << 20))
times = st.one_of(st.none(), st.integers(60, 10**7)).map(Duration)
pmix = [{}, {"PMIxTimeout": "600", "PMIxDebug": "1"}]
gpus = st.builds(Gpus, count=st.integers(1, 16), type=st.none() | words)
gres = st.dictionaries(words.map(lambda word: f"x{word}"), st.builds(Gres, count=st.integers(1, 99)), max_size=2)


@st.composite
def node_sets(draw: st.DrawFn, topology: str) -> NodeSet:
    kind: Kind = draw(st.sampled_from(("static", "static", "dynamic")))
    sockets, cores, threads = (draw(st.integers(1, 4)) for _ in range(3))
    shaped = draw(st.booleans())
    place = {"tree": Place(switch=draw(st.sampled_from(["leaf1", "leaf2"]))), "block": Place(block="block1")}
    return NodeSet(
        size=draw(st.integers(1, 12)),
        kind=kind,
        max_size=20 if kind == "dynamic" else None,
        cpus=sockets * cores * threads,
        sockets=sockets if shaped else None,
        cores_per_socket=cores if shaped else None,
        threads_per_core=threads if shaped else None,
        memory=draw(memory),
        gpus=draw(st.none() | gpus),
        gres=draw(gres),
        features=draw(st.lists(words, max_size=3, unique=True)),
        weight=draw(st.integers(1, 1000)),
        topology=place.get(topology),
    )


def partitions(names: list[str]) -> st.SearchStrategy[Partition]:
    return st.builds(
        Partition,
        node_sets=st.lists(st.sampled_from(names), min_size=1, unique=True) | st.just(["ALL"]),
        state=st.sampled_from(["UP", "DOWN", "DRAIN", "INACTIVE"]),
        max_time=times,
        priority_tier=st.integers(0, 100),
        min_nodes=st.integers(0, 4),
        max_nodes=st.none() | st.integers(5, 100),
        def_mem_per_cpu=st.none() | memory,
        def_cpu_per_gpu=st.none() | st.integers(1, 16),
        def_mem_per_gpu=st.none() | memory,
        over_subscribe=st.sampled_from(["NO", "YES", "FORCE:4"]),
        exclusive=st.sampled_from(["NO", "NODE", "USER", "TOPO"]),
        grace_time=st.none() | st.integers(0, 600).map(Interval),
        allow_groups=st.lists(st.sampled_from(["root", "slurm"]), max_size=2, unique=True),
        hidden=st.booleans(),
        root_only=st.booleans(),
        tres_billing_weights=st.sampled_from([{}, {"CPU": "1.0", "Mem": "0.25G"}]),
    )


@st.composite
def clusters(draw: st.DrawFn) -> Settings:
    topology: TopologyPlugin = draw(st.sampled_from(("none", "none", "tree", "block")))
    others = draw(st.lists(words.map(lambda word: f"{word}-set"), max_size=3, unique=True))
    # The leaves of a tree are those of the first NodeSet and whatever the others name.
    worker = NodeSet(size=2, topology={"tree": Place(switch="leaf1"), "block": Place(block="block1")}.get(topology))
    sets = {name: draw(node_sets(topology)) for name in others}
    places = [each.topology for each in [worker, *sets.values()] if each.topology]
    leaves = sorted({place.switch for place in places if place.switch})
    spine = {"spine": SwitchAbove(switches=leaves)} if topology == "tree" else {}
    queues = draw(st.dictionaries(words.map(lambda word: f"p{word}"), partitions(["worker", *others]), max_size=4))
    return Settings.model_validate(
        Settings().model_dump()
        | {
            "cluster": {"name": "c", "auth": draw(st.sampled_from(["munge", "slurm"]))},
            "worker": worker,
            "node_sets": sets,
            "partitions": {"main": Partition(default=True), **queues},
            "rest": {"enabled": draw(st.booleans())},
            "monitoring": {"enabled": draw(st.booleans())},
            "slurm": Slurm(
                cgroup=draw(st.sampled_from(["v2", "disabled"])),
                topology=Topology(plugin=topology, switches=spine),
                mpi=Mpi(default=draw(st.sampled_from(["none", "pmi2"])), pmix=draw(st.sampled_from(pmix))),
                private_tmp=draw(st.booleans()),
            ),
        },
        by_name=True,
    )


@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
@given(clusters())
def test_a_real_slurmctld_starts_with_what_is_rendered(slurmctld: Slurmctld, cluster: Settings) -> None:
    said = slurmctld.start(render(cluster))
    try:
        assert complaints(said) == []
        shown = slurmctld.ask("scontrol -o show partition; sinfo -h -N -o '%N' | sort -u | wc -l").splitlines()
        names = set(re.findall(r"PartitionName=(\S+)", "\n".join(shown)))
        assert names == set(cluster.partitions)
        static = [each for each in cluster.all_node_sets.values() if each.kind == "static"]
        assert int(shown[-1]) == sum(each.size for each in static)
    finally:
        slurmctld.stop()


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_nodeset_may_shrink_to_nothing(slurmctld: Slurmctld, size: int) -> None:
    cluster = Settings(worker=NodeSet(size=size, cpus=1))
    slurmctld.start(render(cluster))
    assert slurmctld.ask("sinfo -h -N -o '%N' | sort -u | wc -l").strip() == str(size)
    slurmctld.stop()
