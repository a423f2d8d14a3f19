"""With `cluster.auth: slurm` one key does it: no munge, and nothing that a researcher would notice."""

from tests.cluster.stacks import Stack


def test_x(variant: Stack) -> None:
    assert variant.run("srun hostname") == "worker-0"
