"""A cluster that has accounting from its first day, with Slurm's own authentication, limits of generic resources, and
the HTTP interface and metrics that accounting adds to."""

from collections.abc import Iterator
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.accounting.conftest import CONFIG, recorded, submit
from tests.cluster.changes import change, pods
from tests.cluster.rest.conftest import Rest
from tests.cluster.stacks import Stack, until
from tests.cluster.upgrades import upgrade

PORT = 30821
UP = "slipway_slurmdbd_up"

YOUNG: dict[str, Any] = {
    **CONFIG,
    "cluster": {"name": "young", "namespace": "young", "stage": "development", "auth": "slurm"},
    "worker": {**CONFIG["worker"], "gres": {"seat": {"count": 2}}},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30323}},
    # slurmctld does not start with a partition whose QoS slurmdbd does not have.
    "partitions": {"main": {"nodeSets": ["worker"], "default": True, "qos": "seats", "allowAccounts": ["physics"]}},
    "accounting": {
        "enabled": True,
        "mariadb": {"memory": "384Mi", "storage": {"storageClass": "standard", "size": "1Gi"}},
        "enforce": ["associations", "limits", "qos"],
        "qos": {"seats": {"maxTresPerUser": {"gres/seat": 1}, "flags": ["DenyOnLimit"]}},
        "accounts": {"physics": {"users": ["researcher"]}},
    },
    "rest": {"enabled": True, "service": {"type": "NodePort", "nodePort": PORT}},
    "monitoring": {"enabled": True},
}


@pytest.fixture(scope="module")
def young(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "young", tmp_path_factory.mktemp("young"), **YOUNG)
    stack.up()
    yield stack
    stack.destroy()


def test_nothing_had_to_start_twice(young: Stack) -> None:
    restarts = {
        f"{name} {each['name']}": each["restartCount"]
        for name, pod in pods(young).items()
        for each in pod["status"].get("containerStatuses", [])
    }
    assert {name: count for name, count in restarts.items() if count} == {}
    young.up("--expect-no-changes")


def test_jobs_are_recorded_and_limits_hold(young: Stack) -> None:
    job = submit(young, "--gres=seat:1 --wrap true")
    assert recorded(young, job)["Account"] == "physics"
    refused = young.ssh("sbatch -o /dev/null --gres=seat:2 --wrap true")
    assert "QOSMaxGRESPerUser" in refused.stderr, refused


def test_programs_find_the_history_of_jobs(young: Stack) -> None:
    job = submit(young, "--wrap true")
    recorded(young, job)
    rest = Rest(young, PORT)
    [found] = rest.call(f"slurmdb/v0.0.45/job/{job}", rest.token()).body["jobs"]
    assert (found["account"], found["state"]["current"]) == ("physics", ["COMPLETED"])


def test_monitoring_sees_slurmdbd_go_and_come(young: Stack) -> None:
    metrics = f"/api/v1/namespaces/{young.namespace}/pods/controller-0:9341/proxy/metrics"

    def answers() -> str:
        return next(line for line in young.kubectl("get", "--raw", metrics).splitlines() if line.startswith(UP))[-1]

    until(lambda: answers() == "1", "slurmdbd to be seen")
    for size, seen in ((0, "0"), (1, "1")):
        young.kubectl("scale", "statefulset/accounting", f"--replicas={size}")
        until(lambda seen=seen: answers() == seen, f"slurmdbd to be seen as {seen}", 120)


def test_a_changed_partition_with_a_qos_is_rehearsed_and_applied(young: Stack) -> None:
    change(young, "partitions", main={**YOUNG["partitions"]["main"], "maxTime": "2:00:00"})
    young.up()
    assert "MaxTime=02:00:00" in young.run("scontrol show partition main")
    assert "QoS=seats" in young.run("scontrol show partition main")


def test_slurmdbd_gets_another_image_before_slurmctld_does(young: Stack) -> None:
    upgrade(young, "accounting", "controller", "worker", "rest")
    upgrade(young, "login")
