"""What happens to everybody else when the bridge is not there: nothing."""

from collections.abc import Iterator

import pytest

from tests.cluster.bridge.conftest import MANAGED, PARTS, UNMANAGED, Bridged
from tests.cluster.changes import change, is_ready, pods, uids
from tests.cluster.stacks import until

NOWHERE = "localhost/nowhere/bridge:1.2"


@pytest.fixture
def absent(bridged: Bridged) -> Iterator[Bridged]:
    """Its images cannot be had: there are pods, and none of them runs."""
    images = {part: _image(bridged, part) for part in PARTS}
    for part in PARTS:
        _run(bridged, part, NOWHERE, "0")
    until(lambda: not _running(bridged), "the bridge's pods to be gone")
    for part in PARTS:
        _run(bridged, part, NOWHERE, "1")
    yield bridged
    for part in PARTS:
        _run(bridged, part, images[part], "1")
    for part in PARTS:
        bridged.kubectl("rollout", "status", f"deployment/bridge-{part}", "-n", bridged.own, "--timeout=120s")


def _image(bridged: Bridged, part: str) -> str:
    return bridged.get("deployment", f"bridge-{part}", bridged.own)["spec"]["template"]["spec"]["containers"][0][
        "image"
    ]


def _run(bridged: Bridged, part: str, image: str, replicas: str) -> None:
    here = ["-n", bridged.own, f"deployment/bridge-{part}"]
    bridged.kubectl("set", "image", *here, f"{part}={image}")
    bridged.kubectl("scale", *here, f"--replicas={replicas}")


def _running(bridged: Bridged) -> str:
    return bridged.kubectl("get", "pods", "-n", bridged.own, "--field-selector=status.phase=Running", "-o", "name")


def test_without_it_everybody_else_is_served(absent: Bridged) -> None:
    stack = absent.stack
    said = "{.items[*].status.containerStatuses[*].state.waiting.reason}"
    words = ["get", "pods", "-n", absent.own, "-o", f"jsonpath={said}"]
    until(lambda: "ImagePull" in absent.kubectl(*words), "an image to be missed")
    before = uids(stack, "app.kubernetes.io/name=rest")
    stack.kubectl("delete", "pod", *before, "--wait=false")
    absent.create("plain-2", "true", UNMANAGED)
    system = {"nodeSelector": {"slipway/role": "system"}}
    absent.create("bridged-system", "true", "kube-system", **system)
    absent.wait_for_phase("plain-2", "Succeeded", namespace=UNMANAGED)
    absent.wait_for_phase("bridged-system", "Succeeded", namespace="kube-system")
    absent.kubectl("delete", "pod", "bridged-system", "-n", "kube-system", "--wait=false")

    def replaced() -> bool:
        there = pods(stack, "app.kubernetes.io/name=rest")
        return not before.keys() & there.keys() and all(map(is_ready, there.values())) and bool(there)

    until(replaced, "slurmrestd to be back")
    # What would have to wait in Slurm's queue is refused, and does not slip past it.
    with pytest.raises(AssertionError, match=r"failed calling webhook \"pods\.slinky\.slurm\.net\""):
        absent.create("refused", "true")
    assert not absent.get("pod", "refused")


def test_a_pod_that_came_while_the_scheduler_was_away_is_not_forgotten(bridged: Bridged) -> None:
    scheduler = ["-n", bridged.own, "deployment/bridge-scheduler"]
    bridged.kubectl("scale", *scheduler, "--replicas=0")
    bridged.create("patient", "true")
    assert bridged.get("pod", "patient")["status"]["phase"] == "Pending"
    bridged.kubectl("scale", *scheduler, "--replicas=1")
    bridged.wait_for_phase("patient", "Succeeded", seconds=90)
    bridged.kubectl("delete", "pod", "patient", "-n", MANAGED, "--timeout=60s")


def test_without_the_http_interface_it_is_refused(bridged: Bridged) -> None:
    stack, before = bridged.stack, bridged.stack.file.read_text()
    change(stack, "rest", enabled=False)
    try:
        done = stack.pulumi("preview")
    finally:
        stack.file.write_text(before)
    assert done.returncode != 0
    assert "slipway:bridge.enabled" in done.stdout + done.stderr
    assert "set rest.enabled: true" in done.stdout + done.stderr
