"""A machine that runs no slurmd is one of Slurm's nodes, and pods wait for it in the queue."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab import paths
from tests.cluster.bridge.conftest import (
    JOB_ID,
    MANAGED,
    NODE,
    SCHEDULER,
    TAINT,
    UNMANAGED,
    Bridged,
)
from tests.cluster.stacks import until

EXAMPLES = paths.CHECKOUT / "examples" / "bridge"


def example(name: str) -> dict[str, Any]:
    """The first object of an example, in the namespace and with an image that the lab has."""
    text = (EXAMPLES / f"{name}.yaml").read_text()
    found = next(
        yaml.safe_load_all(text.replace("docker.io/library/busybox:1.37", os.environ["SLIPWAY_CONTROLLER_IMAGE"]))
    )
    found["metadata"]["namespace"] = MANAGED
    return found


def test_the_node_is_in_its_partition_and_keeps_other_pods_out(bridged: Bridged, first_token: str) -> None:
    assert first_token, "without it the bridge could not tell Slurm anything"
    shown = until(lambda: bridged.slurm_node(NODE), f"Slurm to have {NODE}", 90)
    assert "EXTERNAL" in shown
    assert "Partitions=bridge" in shown
    until(lambda: TAINT in bridged.taints(), f"{NODE} to keep other pods out")


def test_slurm_knows_where_it_is_and_keeps_it_when_it_reads_its_files_again(bridged: Bridged) -> None:
    """Its name says nothing to slurmctld, which would look for it in vain whenever it hands the node out."""
    addresses = bridged.get("node", NODE)["status"]["addresses"]
    [own] = [each["address"] for each in addresses if each["type"] == "InternalIP"]
    until(lambda: f"NodeAddr={own} " in bridged.slurm_node(NODE), f"Slurm to know where {NODE} is")
    bridged.stack.admin("scontrol", "reconfigure")
    shown = until(lambda: bridged.slurm_node(NODE), "slurmctld to be back")
    assert f"NodeAddr={own} " in shown
    assert "Partitions=bridge" in shown


def test_a_pod_waits_in_the_queue_and_runs_where_slurm_says(bridged: Bridged) -> None:
    bridged.kubectl("create", "-f", "-", stdin=json.dumps(example("pod")))
    first = bridged.job_of("hello")
    bridged.create("second", "sleep 2")
    second = bridged.job_of("second")

    running = bridged.wait_for_job(first, "RUNNING")
    assert (running["Partition"], running["MCS_label"], running["JobName"]) == ("bridge", "kubernetes", "hello")
    assert (running["NodeList"], running["UserId"].partition("(")[0], running["Command"]) == (NODE, "slurm", "(null)")
    assert f"{MANAGED}/hello" in running["AdminComment"]
    there = bridged.wait_for_phase("hello", "Running")
    assert (there["spec"]["schedulerName"], there["spec"]["nodeName"]) == (SCHEDULER, NODE)

    # It has the node for itself, so that the other one waits: in Slurm's queue, and therefore in Kubernetes.
    assert bridged.wait_for_job(second, "PENDING")["Reason"] in ("Resources", "Priority", "None")
    assert "nodeName" not in bridged.get("pod", "second")["spec"]

    bridged.wait_for_phase("hello", "Succeeded")
    ended = bridged.wait_for_job(first, "CANCELLED", "COMPLETED")
    then = bridged.wait_for_job(second, "RUNNING", "CANCELLED", "COMPLETED")
    assert then["StartTime"] >= ended["EndTime"]
    assert bridged.wait_for_phase("second", "Succeeded")["spec"]["nodeName"] == NODE
    bridged.wait_for_job(second, "CANCELLED", "COMPLETED")
    until(lambda: not bridged.get("pod", "hello")["metadata"].get("finalizers"), "pod hello to be let go")
    bridged.kubectl("delete", "pod", "hello", "second", "-n", MANAGED, "--timeout=30s")


def test_a_job_that_is_cancelled_takes_its_pod_with_it(bridged: Bridged) -> None:
    bridged.create("cancelled", "sleep 600")
    number = bridged.job_of("cancelled")
    bridged.wait_for_phase("cancelled", "Running")
    bridged.stack.admin("scancel", number)
    bridged.wait_until_gone("cancelled")


def test_a_pod_that_is_deleted_takes_its_job_with_it(bridged: Bridged) -> None:
    bridged.create("deleted", "sleep 600")
    number = bridged.job_of("deleted")
    bridged.wait_for_phase("deleted", "Running")
    bridged.kubectl("delete", "pod", "deleted", "-n", MANAGED, "--timeout=60s")
    bridged.wait_for_job(number, "CANCELLED", "COMPLETED")


def test_the_pods_of_a_job_are_jobs_with_its_annotations(bridged: Bridged) -> None:
    bridged.kubectl("create", "-f", "-", stdin=json.dumps(example("job")))
    bridged.kubectl("wait", "-n", MANAGED, "job/sweep", "--for=condition=Complete", "--timeout=120s")
    pods = json.loads(bridged.kubectl("get", "pods", "-n", MANAGED, "-l", "job-name=sweep", "-o", "json"))["items"]
    numbers = {pod["metadata"]["labels"][JOB_ID] for pod in pods}
    assert len(numbers) == 4
    for number in numbers:
        shown = bridged.wait_for_job(number, "CANCELLED", "COMPLETED")
        assert (shown["JobName"], shown["TimeLimit"]) == ("sweep", "00:30:00")
    bridged.kubectl("delete", "job", "sweep", "-n", MANAGED, "--timeout=60s")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_kubernetes_would_run_the_pods_of_every_example(bridged: Bridged, file: Path) -> None:
    """Also of those whose kind this cluster does not have."""
    templates = list(pod_specs(list(yaml.safe_load_all(file.read_text()))))
    assert templates
    meta = {"generateName": "example-", "namespace": MANAGED}
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec} for spec in templates]
    items = {"apiVersion": "v1", "kind": "List", "items": pods}
    words = ["create", "--dry-run=server", "-f", "-", "-o", 'jsonpath={..schedulerName}{"\\n"}']
    said = bridged.kubectl(*words, stdin=json.dumps(items))
    assert said.split() == [SCHEDULER] * len(pods)


def pod_specs(found: Any) -> Any:
    """Whatever has containers, at any depth."""
    if isinstance(found, dict):
        if "containers" in found:
            yield found
            return
        found = list(found.values())
    if isinstance(found, list):
        for each in found:
            yield from pod_specs(each)


def test_what_the_bridge_writes_is_not_for_users(bridged: Bridged) -> None:
    forged = {**example("pod"), "metadata": {"name": "forged", "namespace": MANAGED, "labels": {JOB_ID: "1"}}}
    with pytest.raises(AssertionError, match="denied the request"):
        bridged.kubectl("create", "-f", "-", stdin=json.dumps(forged))


def test_pods_of_other_namespaces_are_none_of_its_business(bridged: Bridged) -> None:
    bridged.create("plain", "true", UNMANAGED)
    there = bridged.wait_for_phase("plain", "Succeeded", namespace=UNMANAGED)
    assert there["spec"]["schedulerName"] == "default-scheduler"
    assert there["spec"]["nodeName"] != NODE
    assert JOB_ID not in there["metadata"].get("labels", {})
