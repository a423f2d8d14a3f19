"""A cluster without the bridge is as if it had never had one."""

import json

from tests.cluster.bridge.conftest import JOB_ID, MANAGED, NODE, SCHEDULER, TAINT, Bridged
from tests.cluster.changes import change, uids
from tests.cluster.stacks import until

WORKER = "app.kubernetes.io/name=worker"


def test_nothing_is_left_of_it(bridged: Bridged) -> None:
    stack = bridged.stack
    bridged.create("last", "sleep 20")
    last = bridged.job_of("last")
    bridged.wait_for_phase("last", "Running")
    bridged.create("late", "sleep 600")
    late = bridged.job_of("late")
    stack.admin("scontrol", "hold", late)
    assert TAINT in bridged.taints()
    workers = uids(stack, WORKER)

    change(stack, "bridge", enabled=False)
    stack.up("--skip-preview")

    assert TAINT not in bridged.taints()
    node = json.dumps(bridged.get("node", NODE)["metadata"].get("labels", {}))
    assert "slinky" not in node
    assert "slipway/lent" not in node
    kinds = "clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations"
    assert bridged.own not in bridged.kubectl("get", kinds, "-o", "name")
    assert "bridge" not in stack.kubectl("get", "deployments,serviceaccounts,secrets,configmaps", "-o", "name")
    until(lambda: not bridged.get("namespace", bridged.own), f"{bridged.own} to be gone")

    # What ran was waited for. What still waited does so no longer: nobody would ever end it.
    assert bridged.get("pod", "last")["status"]["phase"] == "Succeeded"
    for number in (last, late):
        bridged.wait_for_job(number, "CANCELLED", "COMPLETED")
    assert "slurm" not in stack.admin("squeue", "--noheader", "--format=%u")
    bridged.kubectl("delete", "pod", "last", "late", "-n", MANAGED, "--ignore-not-found", "--timeout=60s")

    assert uids(stack, WORKER).keys() == workers.keys()
    assert stack.run("srun hostname") == "worker-0"


def test_pods_of_its_namespaces_are_ordinary_ones_again(bridged: Bridged) -> None:
    bridged.create("ordinary", "true")
    there = bridged.wait_for_phase("ordinary", "Succeeded")
    assert there["spec"]["schedulerName"] != SCHEDULER
    assert JOB_ID not in there["metadata"].get("labels", {})


def test_workers_are_replaced_as_ever(bridged: Bridged) -> None:
    """Also on a machine that was lent: no taint keeps them out."""
    stack = bridged.stack
    before = uids(stack, WORKER)
    stack.kubectl("delete", "pod", "worker-0")
    until(lambda: uids(stack, WORKER).keys() == before.keys() and uids(stack, WORKER) != before, "another worker-0")
    assert stack.run("srun hostname", seconds=180) == "worker-0"
