"""An update that was killed is finished by the next start."""

import os
import signal
import subprocess
import sys

from lab.run import own_path
from tests.cluster.stacks import Stack, until


def test_a_first_deploy_that_was_killed_is_finished_by_the_next_start(dev: Stack) -> None:
    done = dev.pulumi("destroy", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        dev.namespace
        not in subprocess.run(
            ["kubectl", "get", "namespaces", "-o", "name"], capture_output=True, text=True, check=True
        )
        .stdout.replace("namespace/", "")
        .split()
    ), "`pulumi destroy` leaves nothing behind"

    up = [sys.executable, "-m", "lab.cli", "--name", dev.lab.name, "up"]
    bare = {**os.environ, "PATH": own_path()}  # as on a machine that has no pulumi of its own
    quiet = subprocess.DEVNULL
    first = subprocess.Popen(up, stdout=quiet, stderr=quiet, start_new_session=True, env=bare)

    def begun() -> bool:
        argv = ["kubectl", "get", "pods", "-n", dev.namespace, "-o", "name"]
        return "controller-0" in subprocess.run(argv, capture_output=True, text=True).stdout

    until(begun, "the update to make the controller", 180)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    locks = list((dev.lab.home / "state" / ".pulumi" / "locks").rglob("*.json"))
    assert locks, "killed too late: the update was over"
    second = subprocess.run(up, capture_output=True, text=True, timeout=500, env=bare)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "an earlier `pulumi` was killed" in second.stderr
    assert "ssh -i" in second.stdout + second.stderr
    assert dev.run("srun hostname").startswith("worker-")
    dev.up("--expect-no-changes")
