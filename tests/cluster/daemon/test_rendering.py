"""A real slurmctld accepts whatever we render, and understands it as it was meant."""

import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from config import Settings
from config.node_sets import NodeSet
from config.partitions import ALL
from slurm.render import render
from tests.cluster.daemon.slurmctld import Slurmctld, complaints
from tests.unit.slurm.clusters import clusters
from tests.unit.slurm.goldens import CLUSTERS, alone


@settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
@given(clusters(alone=True))
def test_a_real_slurmctld_starts_with_what_is_rendered(slurmctld: Slurmctld, cluster: Settings) -> None:
    said = slurmctld.start(render(cluster))
    try:
        assert complaints(said) == []
        shown = slurmctld.ask("scontrol -o show partition; sinfo -h -N -o '%N' | sort -u | wc -l").splitlines()
        names = set(re.findall(r"PartitionName=(\S+)", "\n".join(shown)))
        assert names == set(cluster.partitions)
        static = sum(each.size for each in cluster.all_node_sets.values() if each.kind == "static")
        assert int(shown[-1]) == static
        nodes = {name: re.search(rf"PartitionName={name} .* TotalNodes=(\d+)", "\n".join(shown)) for name in names}
        everywhere = [name for name, each in cluster.partitions.items() if each.node_sets == [ALL]]
        assert {name: int(found[1]) for name, found in nodes.items() if found and name in everywhere} == dict.fromkeys(
            everywhere, static
        )
    finally:
        slurmctld.stop()


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_real_slurmctld_starts_with_the_clusters_whose_files_are_kept(slurmctld: Slurmctld, name: str) -> None:
    cluster = alone(CLUSTERS[name]())
    said = slurmctld.start(render(cluster))
    try:
        assert complaints(said) == []
        shown = slurmctld.ask("scontrol -o show partition")
        assert set(re.findall(r"PartitionName=(\S+)", shown)) == set(cluster.partitions)
        nodes = sum(each.size for each in cluster.all_node_sets.values())
        assert int(slurmctld.ask("sinfo -h -N -o '%N' | sort -u | wc -l")) == nodes
    finally:
        slurmctld.stop()


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_nodeset_may_shrink_to_nothing(slurmctld: Slurmctld, size: int) -> None:
    cluster = Settings(worker=NodeSet(size=size, cpus=1))
    slurmctld.start(render(cluster))
    assert slurmctld.ask("sinfo -h -N -o '%N' | sort -u | wc -l").strip() == str(size)
    slurmctld.stop()
