"""From the last release to this one by one `pulumi up`, with jobs running and with nothing else changed."""

import os

from tests.cluster.changes import is_ready, pods
from tests.cluster.updates import settled
from tests.cluster.upgrade.conftest import Upgraded
from tests.cluster.upgrade.holdings import Holdings

# A Job that has filled the shared root, or written the users into it, is made anew: it finds all that it would do done.
STATELESS = "kubernetes:batch/v1:Job"


def test_nothing_that_holds_state_is_replaced_or_deleted(upgraded: Upgraded) -> None:
    touched = {each.name: each.operation for each in upgraded.told.resources if each.kind != STATELESS}
    assert set(touched.values()) <= {"create", "update"}, touched
    before, after = upgraded.before, Holdings.look(upgraded.stack)
    assert before.objects.items() <= after.objects.items()
    assert before.secrets == after.secrets


def test_users_find_their_files_and_the_same_host_key(upgraded: Upgraded) -> None:
    after = Holdings.look(upgraded.stack)
    assert after.files == upgraded.before.files
    assert after.host_key == upgraded.before.host_key


def test_every_pod_runs_an_image_of_this_release_and_every_node_serves(upgraded: Upgraded) -> None:
    stack = upgraded.stack
    running = {name: pod["spec"]["containers"][0]["image"] for name, pod in pods(stack).items()}
    roles = {name: os.environ[f"SLIPWAY_{name.rsplit('-')[0].upper()}_IMAGE"] for name in running}
    assert running == roles
    assert running.keys() == {"controller-0", "worker-0", "worker-1", "login-0"}
    assert all(map(is_ready, pods(stack).values()))
    assert stack.run("srun --nodes=2 --ntasks-per-node=1 hostname | sort").split() == ["worker-0", "worker-1"]


def test_every_job_of_before_and_meanwhile_ran_once_and_to_its_end(upgraded: Upgraded) -> None:
    stack, jobs = upgraded.stack, upgraded.jobs
    assert stack.wait_for_job(upgraded.held, "PENDING")["Reason"] == "JobHeldUser"
    stack.run(f"scontrol release {upgraded.held}")
    for job in (upgraded.long, upgraded.waiting, upgraded.held):
        assert stack.wait_for_job(job)["Restarts"] == "0"
    jobs.finish()


def test_nothing_is_left_to_do(upgraded: Upgraded) -> None:
    settled(upgraded.stack)
