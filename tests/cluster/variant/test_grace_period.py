"""What is left of a job at the end of its pod's grace period: all of it, in the queue."""

from tests.cluster.dev.test_pods_come_and_go import replaced
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack


def test_a_job_that_does_not_finish_in_time_goes_back_into_the_queue(variant: Stack) -> None:
    job = submitted(variant.run("sbatch --nodelist=worker-0 -o /dev/null --wrap 'sleep 600'"))
    variant.wait_for_job(job, "RUNNING")
    try:
        replaced(variant, "worker-0")
        assert variant.wait_for_job(job, "PENDING", "RUNNING")["Restarts"] == "1"
    finally:
        variant.run(f"scancel {job}")
    assert variant.run("srun --nodelist=worker-0 hostname") == "worker-0"
