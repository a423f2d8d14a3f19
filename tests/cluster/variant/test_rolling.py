"""Changed pods of NodeSets: replaced after their jobs, so many at a time as allowed, and nothing is lost."""

import time

from tests.cluster.changes import change, change_burst, is_ready, pods, uids
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until
from tests.cluster.updates import updating

WORKERS = "slipway/node-set"
UNTIL_TOLD = "until test -e ~/go; do sleep 0.3; done; rm ~/go; echo went on"


def waits_for_a_word(stack: Stack) -> str:
    """A job on the worker that ends when ~/go is there."""
    stack.run("rm -f ~/go")
    job = submitted(stack.run(f"sbatch --nodelist=worker-0 --output=waited.txt --wrap '{UNTIL_TOLD}'"))
    stack.wait_for_job(job, "RUNNING")
    return job


def state(stack: Stack, node: str) -> str:
    return stack.run(f"sinfo --noheader --nodes={node} --format=%T | sort -u")


def test_an_update_that_may_not_wait_fails_with_the_jobs_and_leaves_them_alone(variant: Stack) -> None:
    job = waits_for_a_word(variant)
    before = uids(variant, WORKERS)
    change(variant, "drain", timeout="5s", onTimeout="fail")
    change(variant, "worker", gracePeriod="21s")
    failed = variant.pulumi("up", "--yes")
    said = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert f"1 job: {job} (researcher, on worker-0)" in said
    assert "drain.timeout" in said
    assert variant.wait_for_job(job, "RUNNING")["Restarts"] == "0"
    assert uids(variant, WORKERS) == before
    assert variant.run("srun --nodelist=worker-0 hostname") == "worker-0", "it takes jobs again"
    variant.run("touch ~/go")
    variant.wait_for_job(job)


def test_pods_are_replaced_after_their_jobs_and_so_many_at_a_time_as_allowed(variant: Stack) -> None:
    if len(pods(variant, "slipway/node-set=burst")) != 2:
        change_burst(variant, size=2)
        variant.up()
    job = waits_for_a_word(variant)
    before = uids(variant, WORKERS)
    change(variant, "drain", timeout="5m", onTimeout="fail")
    change(variant, "worker", gracePeriod="22s")
    change_burst(variant, gracePeriod="22s", maxUnavailable=1)
    away: set[int] = set()
    with updating(variant) as update:
        deadline = time.monotonic() + 240
        # The dynamic ones have no jobs to wait for.
        while True:
            burst = pods(variant, "slipway/node-set=burst")
            away.add(2 - sum(is_ready(pod) for pod in burst.values()))
            done = all(is_ready(pod) and pod["metadata"]["uid"] != before[name] for name, pod in burst.items())
            if len(burst) == 2 and done and state(variant, "worker-0") == "draining":
                break
            assert update.process.poll() is None, update.said
            assert time.monotonic() < deadline, (away, burst.keys(), state(variant, "worker-0"))
        assert away == {0, 1}
        assert uids(variant, WORKERS)["worker-0"] == before["worker-0"]
        assert variant.wait_for_job(job, "RUNNING")["Restarts"] == "0"
        waiting = submitted(variant.run("sbatch --nodelist=worker-0 -o /dev/null --wrap true"))
        variant.run("touch ~/go")
        assert update.end(240) == 0, update.said
    assert variant.wait_for_job(job)["Restarts"] == "0"
    assert variant.run("cat waited.txt") == "went on"
    variant.wait_for_job(waiting)
    assert uids(variant, WORKERS)["worker-0"] != before["worker-0"]
    until(lambda: state(variant, "worker-0,burst-[0-1]") == "idle", "all nodes to be idle")
    variant.up("--expect-no-changes")
