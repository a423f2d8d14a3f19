"""Nodes and partitions that go: emptied first, and nothing is done to a job that nobody was told of."""

from tests.cluster.changes import change, pods, replace
from tests.cluster.rollout.jobs import Jobs
from tests.cluster.stacks import Stack, until
from tests.cluster.updates import settled, updating


def size(stack: Stack, number: int) -> None:
    change(stack, "worker", size=number)


def runs_on(stack: Stack, job: str, node: str) -> None:
    until(lambda: stack.wait_for_job(job, "RUNNING")["NodeList"] == node, f"job {job} to run on {node}")


def test_a_node_goes_when_its_job_has_ended_and_not_before(rollout: Stack, jobs: Jobs) -> None:
    long = jobs.submit(None, "--nodelist=worker-1")
    runs_on(rollout, long, "worker-1")
    size(rollout, 1)
    preview = rollout.pulumi("preview").stdout
    assert f"{long} (researcher, on worker-1)" in preview
    with updating(rollout) as update:
        update.until_it_says(f" for 1 job: {long} (researcher, on worker-1)")
        assert "worker-1" in pods(rollout)
        jobs.tell_to_end(long)
        assert update.end() == 0, update.said
    assert "worker-1" not in rollout.admin("sinfo", "--Node", "--noheader")
    until(lambda: "worker-1" not in pods(rollout), "its pod to be gone")
    settled(rollout)


def test_two_then_four_then_one_then_three_nodes_under_a_stream_of_jobs(rollout: Stack, jobs: Jobs) -> None:
    for number in (2, 4, 1, 3, 2):
        size(rollout, number)
        rollout.up("--skip-preview")
        last = f"worker-{number - 1}"
        assert rollout.run(f"srun --nodelist={last} hostname") == last
        assert f"worker-{number} " not in rollout.admin("sinfo", "--Node", "--noheader")
    settled(rollout)


def test_an_update_that_may_not_wait_stops_with_the_list_of_jobs(rollout: Stack, jobs: Jobs) -> None:
    before = rollout.file.read_text()
    long = jobs.submit(None, "--nodelist=worker-1")
    runs_on(rollout, long, "worker-1")
    change(rollout, "drain", timeout="3s")
    size(rollout, 1)
    try:
        failed = rollout.pulumi("up", "--yes", "--skip-preview")
        said = failed.stdout + failed.stderr
        assert failed.returncode != 0
        assert f"{long} (researcher, on worker-1)" in said
        assert "drain.timeout" in said
        assert "worker-1" in pods(rollout)
        assert rollout.run("srun --nodelist=side-0 hostname") == "side-0"
    finally:
        rollout.file.write_text(before)
    jobs.tell_to_end(long)
    rollout.up("--skip-preview")
    settled(rollout)


def test_jobs_are_requeued_where_the_user_has_chosen_so(rollout: Stack) -> None:
    before = rollout.file.read_text()
    others = [
        rollout.run(f"sbatch --parsable -w {node} -o /dev/null --wrap 'sleep 45'") for node in ("worker-0", "side-0")
    ]
    for each in others:
        rollout.wait_for_job(each, "RUNNING")
    script = '[ -n "$SLURM_RESTART_COUNT" ] || sleep 300'
    job = rollout.run(f"sbatch --parsable --requeue -o /dev/null --wrap '{script}'")
    runs_on(rollout, job, "worker-1")  # the only one that is free
    change(rollout, "drain", timeout="3s", onTimeout="requeue")
    size(rollout, 1)
    try:
        said = rollout.up("--skip-preview").stdout
        assert f"requeue: 1 job: {job} (researcher, on worker-1)" in said
        assert rollout.wait_for_job(job, seconds=300)["Restarts"] == "1"
        for each in others:
            assert rollout.wait_for_job(each)["Restarts"] == "0"
    finally:
        rollout.file.write_text(before)
        rollout.up("--skip-preview")
    settled(rollout)


def test_a_job_that_waits_for_a_node_by_name_holds_it(rollout: Stack, jobs: Jobs) -> None:
    """Slurm would end it without a word when the node goes."""
    before = rollout.file.read_text()
    waiting = jobs.submit(1, "--nodelist=worker-1", "--begin=now+2minutes")
    size(rollout, 1)
    try:
        assert f"{waiting} (researcher, waiting in main): asks for worker-1" in rollout.pulumi("preview").stdout
        failed = rollout.pulumi("up", "--yes", "--skip-preview")
        assert failed.returncode != 0
        assert f"{waiting} (researcher, waiting in main for worker-1)" in failed.stdout + failed.stderr
    finally:
        rollout.file.write_text(before)
    rollout.up("--skip-preview")
    settled(rollout)
    rollout.run(f"scontrol update JobId={waiting} StartTime=now")


def test_an_administrators_drain_is_never_touched(rollout: Stack, jobs: Jobs) -> None:
    rollout.admin("scontrol", "update", "NodeName=worker-0", "State=DRAIN", "Reason=broken fan")
    try:
        size(rollout, 3)
        rollout.up("--skip-preview")
        size(rollout, 2)
        rollout.up("--skip-preview")
        shown = rollout.admin("scontrol", "show", "node", "worker-0")
        assert "DRAIN" in shown
        assert "Reason=broken fan" in shown
    finally:
        rollout.admin("scontrol", "update", "NodeName=worker-0", "State=RESUME")
    settled(rollout)


def test_a_partition_goes_when_its_jobs_have_ended_and_those_that_wait_are_told_of(rollout: Stack, jobs: Jobs) -> None:
    before = rollout.file.read_text()
    running = jobs.submit(None, "--partition=side")
    waiting = jobs.submit(1, "--partition=side", f"--dependency=afterany:{running}")
    rollout.wait_for_job(running, "RUNNING")
    try:
        replace(rollout, "partitions", main=rollout.config["slipway:partitions"]["main"])
        preview = rollout.pulumi("preview").stdout
        assert f"{waiting} (researcher, waiting in side): no partition side any more" in preview
        with updating(rollout) as update:
            update.until_it_says("for 2 jobs: ")  # it takes no new ones by then
            refused = rollout.ssh("sbatch --partition=side --wrap true")
            assert refused.returncode != 0, "no new jobs there"
            jobs.tell_to_end(running)
            assert update.end() == 0, update.said
        assert "side" not in rollout.admin("sinfo", "--noheader", "--format=%R").split()
    finally:
        rollout.file.write_text(before)
    rollout.up("--skip-preview")
    settled(rollout)
