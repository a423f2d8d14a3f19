"""Prometheus sees the cluster, dashboards have something to show, and alerts fire for what is really wrong.

In this order: what a cluster without the Prometheus Operator gets comes before what one with it does."""

import json
import re
import subprocess
import time
from typing import Any

import pytest

from monitoring.panels import DASHBOARDS
from tests.cluster.conftest import Kubectl
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.monitoring.conftest import CRDS
from tests.cluster.monitoring.prometheus import Prometheus
from tests.cluster.stacks import Stack, until
from tests.cluster.updates import slipway

OBJECTS = ["podmonitors.monitoring.coreos.com,prometheusrules.monitoring.coreos.com", "-o", "json"]


def objects(stack: Stack) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in json.loads(stack.kubectl("get", *OBJECTS))["items"]}


def test_prometheus_finds_the_controller_by_its_annotations(watched: Stack, prometheus: Prometheus) -> None:
    until(lambda: prometheus.value('up{pod="controller-0"}') == 1, "Prometheus to see the controller", 60)
    [target] = prometheus.get("targets", state="active")["activeTargets"]
    assert target["scrapeUrl"].endswith(":9341/metrics")
    assert prometheus.value("slipway_slurmctld_up") == 1
    assert prometheus.value("min(slipway_collector_success)") == 1
    until(lambda: prometheus.value('slipway_nodes{nodeset="worker",state="idle"}') == 2, "both nodes to be idle", 60)


def test_a_cluster_that_nobody_touched_has_no_drift(watched: Stack, prometheus: Prometheus) -> None:
    """The record of what was applied is mounted, and the kubelet takes its time to bring it."""
    watched.kubectl("annotate", "pod", "controller-0", "tests/look=1", "--overwrite")
    for kind in ("files", "not_read", "live"):
        expression = f'slipway_config_drift{{kind="{kind}"}}'
        until(lambda expression=expression: prometheus.value(expression) == 0, f"no drift of {kind}", 120)


def test_without_the_operator_nothing_of_it_is_made(watched: Stack) -> None:
    found = subprocess.run(
        ["kubectl", "--kubeconfig", str(watched.lab.kubeconfig), "get", "--raw", "/apis/monitoring.coreos.com/v1"],
        capture_output=True,
        text=True,
    )
    assert found.returncode, "this lab has the kinds already: take them away for this test"
    assert "kinds" not in watched.outputs()["deployed"]


def test_with_the_operator_its_objects_are_made(watched: Stack, prometheus: Prometheus, kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(CRDS))
    kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(CRDS))
    uid = watched.kubectl("get", "pod", "controller-0", "-o", "jsonpath={.metadata.uid}")
    watched.up()
    assert watched.kubectl("get", "pod", "controller-0", "-o", "jsonpath={.metadata.uid}") == uid
    found = objects(watched)
    assert set(found) == {"PodMonitor", "PrometheusRule"}
    [endpoint] = found["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert endpoint["interval"] == "15s"
    labels = found["PodMonitor"]["spec"]["selector"]["matchLabels"]
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    assert watched.kubectl("get", "pods", "-l", selector, "-o", "name").split() == ["pod/controller-0"]
    # From now on Prometheus goes by the rules that are in the cluster, with less patience.
    prometheus.use(impatient(found["PrometheusRule"]["spec"]))
    prometheus.until_firing("SlurmJailNearlyFull")


def impatient(spec: dict[str, Any]) -> dict[str, Any]:
    for rule in spec["groups"][0]["rules"]:
        rule["for"] = "0s"
        rule["expr"] = rule["expr"].replace("[5m]", "[15s]")
    return spec


def test_every_panel_shows_something(watched: Stack, prometheus: Prometheus) -> None:
    jobs = [submitted(watched.run("sbatch -o /dev/null --wrap 'sleep 45'")) for _ in range(2)]
    submitted(watched.run("sbatch -o /dev/null --wrap 'exit 1'"))
    watched.run("sbatch -o /dev/null --hold --wrap true")
    assert slipway(watched, "drain", "worker-1", "--reason", "new disk, alice").returncode == 0
    watched.wait_for_job(jobs[0], "RUNNING")
    silent = {
        (board, panel["title"], target["expr"])
        for board, make in DASHBOARDS.items()
        for panel in json.loads(make())["panels"]
        for target in panel["targets"]
    }
    asked = len(silent)
    assert asked > 40

    def all_answered() -> bool:
        for each in list(silent):
            if prometheus.query(re.sub(r"\$(namespace|nodeset|partition|username)", ".*", each[2])):
                silent.discard(each)
        return not silent

    deadline = time.monotonic() + 60
    while not all_answered():
        assert time.monotonic() < deadline, f"of {asked} queries these have no answer: {silent}"
        time.sleep(1)
    assert prometheus.value("slurm_jobs_running") == 2
    assert prometheus.value('slurm_user_jobs_running{username="researcher"}') == 2
    # Names say bytes, and dashboards take it for MiB, as it is.
    assert prometheus.value('slurm_node_memory_bytes{node="worker-0"}') == pytest.approx(512, abs=150)


def test_a_drain_with_an_owner_is_no_alert_and_one_of_slurms_own_is(watched: Stack, prometheus: Prometheus) -> None:
    mine = 'slipway_node_out_of_service{node="worker-1",owner="person"}'
    until(lambda: prometheus.query(mine), "the drain to be seen as a person's", 30)
    assert prometheus.query(mine)[0]["metric"]["reason"] == "new disk, alice"
    assert not prometheus.firing("SlurmNodesOutOfService")
    assert not prometheus.firing("SlurmQueueStuck"), "a drained node is not one that could run jobs"
    # As slurmctld would do it: in its own words, and under its own name.
    watched.admin("scontrol", "update", "NodeName=worker-1", "State=DRAIN", "Reason=Kill task failed")
    alert = prometheus.until_firing("SlurmNodesOutOfService", nodeset="worker")
    assert alert["annotations"]["summary"].startswith("1 nodes of NodeSet worker are drain")
    assert slipway(watched, "resume", "worker-1").returncode == 0
    prometheus.until_quiet("SlurmNodesOutOfService")


def test_a_closed_partition_is_a_stuck_queue_and_drift(watched: Stack, prometheus: Prometheus) -> None:
    watched.admin("scontrol", "update", "PartitionName=main", "State=DOWN")
    job = submitted(watched.run("sbatch -o /dev/null --wrap true"))
    prometheus.until_firing("SlurmConfigDrift", kind="live")
    prometheus.until_firing("SlurmQueueStuck", partition="main")
    assert "State" in slipway(watched, "drift").stdout
    watched.admin("scontrol", "update", "PartitionName=main", "State=UP")
    watched.wait_for_job(job)
    prometheus.until_quiet("SlurmConfigDrift")
    prometheus.until_quiet("SlurmQueueStuck")


def test_files_that_were_edited_by_hand_are_drift_until_they_are_put_back(
    watched: Stack, prometheus: Prometheus
) -> None:
    data = json.loads(watched.kubectl("get", "configmap", "slurm-config", "-o", "json"))["data"]
    patch = json.dumps({"data": {"slurm.conf": data["slurm.conf"] + "KillWait=31\n"}})
    watched.kubectl("patch", "configmap", "slurm-config", "--type=merge", "-p", patch)
    watched.kubectl("annotate", "pod", "controller-0", "tests/look=2", "--overwrite")
    prometheus.until_firing("SlurmConfigDrift", kind="files")
    prometheus.until_firing("SlurmConfigDrift", kind="not_read")
    watched.up("--refresh")
    prometheus.until_quiet("SlurmConfigDrift")


def signal(stack: Stack, name: str) -> None:
    """To slurmctld itself, which is not the container's first process."""
    found = "for each in /proc/[0-9]*; do ! grep -qx slurmctld $each/comm || kill -$0 ${each#/proc/}; done"
    stack.admin("sh", "-c", found, name)


def test_a_controller_that_does_not_answer_and_one_that_is_gone_are_told(
    watched: Stack, prometheus: Prometheus
) -> None:
    try:
        signal(watched, "STOP")
        prometheus.until_firing("SlurmControllerDown")
        assert prometheus.value('up{pod="controller-0"}') == 1, "its sidecar tells it"
    finally:
        signal(watched, "CONT")
    prometheus.until_quiet("SlurmControllerDown")
    watched.kubectl("scale", "statefulset", "controller", "--replicas=0")
    try:
        until(lambda: not prometheus.query("slipway_slurmctld_up"), "nobody to answer any more", 60)
        prometheus.until_firing("SlurmControllerDown", namespace="watched")
    finally:
        watched.kubectl("scale", "statefulset", "controller", "--replicas=1")
    prometheus.until_quiet("SlurmControllerDown")
    # What was rehearsed is gone with the pod; what slurmctld shows at its start stands in for it.
    until(lambda: prometheus.value('slipway_config_drift{kind="live"}') == 0, "drift to be compared again", 60)


def test_the_sidecar_stays_within_its_memory(watched: Stack) -> None:
    status = watched.kubectl("exec", "controller-0", "-c", "metrics", "--", "cat", "/proc/1/status")
    most = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # pyright: ignore[reportOptionalSubscript]
    assert most < 32 * 1024
    assert "Uid:\t65534" in status


def test_kinds_that_are_taken_away_are_no_trouble(watched: Stack, kubectl: Kubectl) -> None:
    kubectl("delete", "-f", str(CRDS))
    watched.up()
    assert "kinds" not in watched.outputs()["deployed"]
    watched.up("--expect-no-changes")
