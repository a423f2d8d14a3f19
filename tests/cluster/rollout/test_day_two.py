"""What an administrator does from day two on, with `slipway`."""

import json
import re

from tests.cluster.stacks import Stack, until
from tests.cluster.updates import slipway


def test_status_tells_of_pods_nodes_queue_and_config_on_one_screen(rollout: Stack) -> None:
    job = rollout.run("sbatch --parsable -w worker-0 -o /dev/null --wrap 'sleep 20'")
    rollout.wait_for_job(job, "RUNNING")
    shown = slipway(rollout, "status")
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout.splitlines()) < 40
    assert re.search(r"^namespace rollout, config [0-9a-f]{12} \(verified\)$", shown.stdout, re.MULTILINE)
    assert re.search(r"^side +1/1 +1 ", shown.stdout, re.MULTILINE)
    found = json.loads(slipway(rollout, "status", "--json").stdout)
    assert found["slurmctld"]["up"]
    assert found["config"]["applied"] == found["config"]["mounted"]
    assert found["queue"]["RUNNING"] >= 1
    assert {"controller-0", "login-0", "worker-0", "side-0"} <= {pod["name"] for pod in found["pods"] if pod["ready"]}
    rollout.run(f"scancel {job}")


def test_nodes_are_drained_with_a_reason_and_resumed(rollout: Stack) -> None:
    done = slipway(rollout, "drain", "side-0", "--reason", "new disks", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"nodes": ["side-0"], "action": "drained", "reason": "new disks"}
    assert "new disks" in slipway(rollout, "status").stdout
    assert slipway(rollout, "resume", "side-0").returncode == 0
    until(lambda: rollout.run("sinfo -h -n side-0 -o %t").split()[0] == "idle", "side-0 to be idle")


def test_ssh_runs_a_command_as_any_user(rollout: Stack) -> None:
    assert slipway(rollout, "ssh", "--", "hostname").stdout == "login-0\n"
    assert "Permission denied" in slipway(rollout, "ssh", "--user", "nobody", "--", "true").stderr
    argv = json.loads(slipway(rollout, "ssh", "--json").stdout)["argv"]
    assert argv[-1] == f"researcher@{rollout.lab.loopback}"
