"""The dev stack as an administrator sees it: outputs, previews, and nothing to do when nothing has changed."""

import json
import subprocess

from lab import paths
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack


def test_a_second_up_changes_nothing(dev: Stack) -> None:
    dev.up("--expect-no-changes")


def test_the_outputs_say_how_to_get_in_and_what_there_is(dev: Stack) -> None:
    outputs = dev.outputs()
    assert outputs["ssh"] == f"ssh -p {dev.port} researcher@{dev.lab.loopback}"
    assert outputs["namespace"] == dev.namespace
    assert outputs["partitions"] == {"main": "worker-[0-1]"}
    assert outputs["nodeSets"] == {"worker": "worker.slurm.svc.cluster.local"}
    assert "NodeName=worker-[0-1]" in outputs["files"]["slurm.conf"]


def test_secrets_are_not_to_be_seen_in_the_state(dev: Stack) -> None:
    state = next((dev.lab.home / "state" / ".pulumi" / "stacks").rglob("dev.json")).read_text()
    keys = json.loads(dev.kubectl("get", "secret", "slurm-keys", "-o", "json"))["data"]
    host_keys = json.loads(dev.kubectl("get", "secret", "ssh-host-keys", "-o", "json"))["data"]
    assert keys.keys() == {"munge.key", "slurm.key", "jwt.key"}
    assert host_keys.keys() == {"ssh_host_ed25519_key"}
    for key in (*keys.values(), *host_keys.values()):
        assert len(key) > 40
        # From its end: all host keys begin with the same words.
        assert key[-40:] not in state
    assert "OPENSSH PRIVATE KEY" not in state  # nor decoded


def test_an_unknown_key_is_refused_by_name_before_anything_changes(dev: Stack) -> None:
    before = dev.file.read_text()
    try:
        dev.file.write_text(before.replace("slipway:cluster:", "slipway:clustr:"))
        refused = dev.pulumi("up", "--yes")
    finally:
        dev.file.write_text(before)
    assert refused.returncode != 0
    assert "slipway:clustr" in refused.stdout + refused.stderr
    dev.up("--expect-no-changes")


def test_deploying_leaves_the_checkout_as_it_was(dev: Stack) -> None:
    argv = ["git", "diff", "--stat", "--", "Pulumi.dev.yaml", "Pulumi.yaml"]
    assert subprocess.run(argv, cwd=paths.CHECKOUT, check=True, capture_output=True, text=True).stdout == ""


def test_pods_run_on_the_nodes_of_their_filters(dev: Stack) -> None:
    shown = dev.kubectl("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{'\\n'}{end}")
    placed = dict(line.split() for line in shown.splitlines())
    for pod, node in placed.items():
        assert node == ("compute-0" if pod.startswith("worker-") else "system-0"), pod


def test_logs_are_where_kubectl_finds_them_and_say_everything_once(dev: Stack) -> None:
    job = submitted(dev.run("sbatch -o /dev/null --nodelist=worker-0 --wrap 'srun true'"))
    dev.wait_for_job(job)
    controller = dev.kubectl("logs", "controller-0", "-c", "slurmctld")
    assert "slurmctld version 26.05.5 started" in controller
    assert controller.count(f"Allocate JobId={job} NodeList=worker-0") == 1
    worker = dev.kubectl("logs", "worker-0", "-c", "slurmd")
    assert "slurmd version 26.05.5 started" in worker
    assert worker.count(f"launch task StepId={job}.0 request") == 1


def test_slurmctld_is_one_process_that_outlives_reconfigures(dev: Stack) -> None:
    processes = "for p in /proc/[0-9]*; do cat $p/comm; done 2>/dev/null"
    for _ in range(3):
        dev.admin("scontrol", "reconfigure")
        assert dev.run("scontrol ping").endswith("is UP")
    assert dev.admin("sh", "-c", processes).split().count("slurmctld") == 1
    restarts = "jsonpath={.status.containerStatuses[0].restartCount}"
    assert dev.kubectl("get", "pod", "controller-0", "-o", restarts) == "0"
