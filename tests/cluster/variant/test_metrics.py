"""What answers Prometheus has no key, and is known to slurmctld all the same."""

from tests.cluster.stacks import Stack, until


def test_it_tells_of_nodes_that_made_themselves_known(variant: Stack) -> None:
    ask = ["exec", "controller-0", "-c", "metrics", "--", "curl", "--silent", "http://127.0.0.1:9341/metrics"]

    def look() -> list[str] | None:
        lines = variant.kubectl(*ask).splitlines()
        # Drift is told once the record of the deploy has come, which is up to the kubelet.
        return lines if any(line.startswith('slipway_config_drift{kind="live"}') for line in lines) else None

    variant.kubectl("annotate", "pod", "controller-0", "tests/look=1", "--overwrite")
    lines = until(look, "drift to be told", 120)
    assert 'slipway_collector_success{collector="nodes"} 1' in lines
    assert [line for line in lines if line.startswith('slipway_nodes{nodeset="burst"')]
    for kind in ("files", "not_read", "live"):
        said = variant.kubectl("logs", "controller-0", "-c", "metrics")
        assert f'slipway_config_drift{{kind="{kind}"}} 0' in lines, said
    assert 'slurm_node_cpus{node="burst-0"} 1' in lines
