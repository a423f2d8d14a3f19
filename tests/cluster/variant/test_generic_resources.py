"""Generic resources without a device: a number that Slurm hands out."""

import pytest

from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until


@pytest.mark.parametrize(
    ("asked", "node"), [("--gres=seat:2", "worker-0"), ("--partition=everything --gres=token:4", "burst-0")]
)
def test_jobs_that_ask_get_a_node_that_has_it(variant: Stack, asked: str, node: str) -> None:
    assert variant.run(f"srun {asked} hostname") == node


def test_what_one_job_holds_another_does_not_get(variant: Stack) -> None:
    holder = submitted(variant.run("sbatch --gres=seat:2 -o /dev/null --wrap 'sleep 600'"))
    try:
        variant.wait_for_job(holder, "RUNNING")
        # It is the seats that are missing: there is a CPU left, for whoever asks for no more.
        assert variant.run("srun --immediate=30 hostname") == "worker-0"
        waiting = submitted(variant.run("sbatch --gres=seat:1 -o /dev/null --wrap true"))
        reason = f"squeue --noheader --jobs={waiting} --format='%t %r'"
        until(lambda: variant.run(reason) == "PD Resources", "Slurm to have looked at it")
    finally:
        variant.run(f"scancel {holder}")
    variant.wait_for_job(waiting)


def test_more_than_there_is_is_refused(variant: Stack) -> None:
    refused = variant.ssh("srun --gres=seat:3 hostname")
    assert refused.returncode != 0
    assert "not available" in refused.stderr
