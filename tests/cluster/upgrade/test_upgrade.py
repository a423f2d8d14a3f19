"""From the last release to this one by one `pulumi up`, with jobs running and with the same stack file."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from tests.cluster.accounting.conftest import recorded
from tests.cluster.changes import change, is_ready, pods
from tests.cluster.updates import settled
from tests.cluster.upgrade.conftest import Upgraded, events
from tests.cluster.upgrade.holdings import Holdings, pod_images

# One that has filled the shared root, or has written the users into it, is made anew, and finds its work done.
JOB = "kubernetes:batch/v1:Job"
MENDING = {"create", "update"}
# The first time, the images of the last release have to be built.
pytestmark = pytest.mark.timeout(1200)


def test_every_job_of_before_and_meanwhile_ran_once_and_to_its_end(upgraded: Upgraded) -> None:
    stack, jobs = upgraded.stack, upgraded.jobs
    assert stack.wait_for_job(upgraded.held, "PENDING")["Reason"] == "JobHeldUser"
    stack.run(f"scontrol release {upgraded.held}")
    submitted = (upgraded.long, upgraded.elastic, upgraded.waiting, upgraded.held)
    ended = {job: stack.wait_for_job(job) for job in submitted}
    assert {job: fields["Restarts"] for job, fields in ended.items()} == dict.fromkeys(ended, "0")
    jobs.finish()
    # Its worker was replaced for this release, and waited for it.
    [end] = [when for word, job, when in jobs.ledger() if (word, job) == ("end", upgraded.long)]
    successor = pods(stack)[ended[upgraded.long]["BatchHost"]]
    assert datetime.fromisoformat(successor["status"]["startTime"]).timestamp() >= end


def test_nothing_that_holds_state_is_replaced_or_deleted(upgraded: Upgraded) -> None:
    assert upgraded.update.resources
    assert not [each for each in upgraded.update.resources if each.kind != JOB and each.operation not in MENDING]
    before, after = upgraded.before, Holdings.look(upgraded.stack)
    assert before.objects.items() <= after.objects.items()
    assert before.secrets == after.secrets


def test_the_preview_has_said_what_the_update_does(upgraded: Upgraded) -> None:
    said, done = (
        {f"{each.kind} {each.name}": each.operation for each in told.resources}
        for told in (upgraded.preview, upgraded.update)
    )
    assert said == done


def test_users_find_their_files_and_the_same_host_key(upgraded: Upgraded) -> None:
    after = Holdings.look(upgraded.stack)
    assert after.files == upgraded.before.files
    assert after.host_key == upgraded.before.host_key


def test_every_pod_runs_an_image_of_this_release_and_every_node_serves(upgraded: Upgraded) -> None:
    stack = upgraded.stack
    roles = {"controller-0": "controller", "worker-0": "worker", "burst-0": "worker", "login-0": "login"}
    wanted = {name: os.environ[f"SLIPWAY_{role.upper()}_IMAGE"] for name, role in roles.items()}
    running = pod_images(stack)
    assert wanted.items() <= running.items()
    assert set(running.values()) == set(wanted.values())  # those of nodes that Slurm starts and stops, too
    assert all(is_ready(pods(stack)[name]) for name in wanted)
    assert stack.run("srun --nodes=2 --ntasks-per-node=1 hostname | sort").split() == ["burst-0", "worker-0"]
    assert stack.run("srun --partition=elastic hostname", seconds=180).startswith("elastic-")


def test_nothing_is_left_to_do(upgraded: Upgraded) -> None:
    settled(upgraded.stack)


def test_what_is_new_can_be_turned_on_then(upgraded: Upgraded, tmp_path: Path) -> None:
    stack, before = upgraded.stack, Holdings.look(upgraded.stack)
    running = stack.run("sbatch --parsable -o /dev/null --wrap 'sleep 30'")
    stack.wait_for_job(running, "RUNNING")
    storage = {"storageClass": "standard", "size": "1Gi"}
    change(stack, "accounting", enabled=True, mariadb={"memory": "384Mi", "storage": storage})
    told = events(stack, tmp_path / "log", "up", "--yes", "--skip-preview")
    assert {each.operation for each in told.resources} <= MENDING
    assert before.objects.items() <= Holdings.look(stack).objects.items()
    assert stack.wait_for_job(running)["Restarts"] == "0"
    assert recorded(stack, stack.run("sbatch --parsable -o /dev/null --wrap true"))["User"] == "researcher"
