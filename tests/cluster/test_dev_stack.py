"""The dev stack as a person would use it: preview, up, up again, destroy, with the real engine and the real cluster."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import paths
from lab.layout import Lab
from lab.run import own_path

Kubectl = Callable[..., str]


def pulumi(*words: str) -> subprocess.CompletedProcess[str]:
    argv = ["pulumi", *words, "--stack", "dev", "--non-interactive"]
    return subprocess.run(argv, cwd=paths.CHECKOUT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def deployed(lab: Lab) -> Iterator[subprocess.CompletedProcess[str]]:
    subprocess.run(
        ["pulumi", "stack", "select", "--create", "dev"], cwd=paths.CHECKOUT, check=True, capture_output=True
    )
    yield pulumi("up", "--yes")
    assert pulumi("destroy", "--yes").returncode == 0


def test_each_filter_gets_a_pod_on_its_own_nodes(deployed: subprocess.CompletedProcess[str], kubectl: Kubectl) -> None:
    assert deployed.returncode == 0, deployed.stdout + deployed.stderr
    pods = json.loads(kubectl("get", "pods", "-n", "slurm", "-o", "json"))["items"]
    placed = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods}
    assert placed == {"probe-system": "system-0", "probe-compute": "compute-0"}


def test_a_second_up_changes_nothing(deployed: subprocess.CompletedProcess[str]) -> None:
    again = pulumi("up", "--yes", "--expect-no-changes")
    assert again.returncode == 0, again.stdout + again.stderr


def test_an_unknown_key_is_refused_by_name_before_anything_changes(
    deployed: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    wrong = tmp_path / "Pulumi.dev.yaml"
    stack = (paths.CHECKOUT / "Pulumi.dev.yaml").read_text()
    wrong.write_text(stack.replace("slipway:cluster:", "slipway:clustr:"))
    refused = pulumi("up", "--yes", "--config-file", str(wrong))
    assert refused.returncode != 0
    assert "slipway:clustr" in refused.stdout + refused.stderr


def test_deploying_leaves_the_checkout_as_it_was(deployed: subprocess.CompletedProcess[str]) -> None:
    argv = ["git", "diff", "--stat", "--", "Pulumi.dev.yaml", "Pulumi.yaml"]
    assert subprocess.run(argv, cwd=paths.CHECKOUT, check=True, capture_output=True, text=True).stdout == ""


def test_an_update_that_was_killed_is_finished_by_the_next_start(
    deployed: subprocess.CompletedProcess[str], lab: Lab, kubectl: Kubectl
) -> None:
    assert pulumi("destroy", "--yes").returncode == 0
    up = [sys.executable, "-m", "lab.cli", "--name", lab.name, "up"]
    bare = {**os.environ, "PATH": own_path()}  # as on a machine that has no pulumi of its own
    quiet = subprocess.DEVNULL
    first = subprocess.Popen(up, stdout=quiet, stderr=quiet, start_new_session=True, env=bare)
    deadline = time.monotonic() + 120
    while "slurm" not in kubectl("get", "namespaces", "-o", "name"):
        assert time.monotonic() < deadline, "the update never began"
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert list((lab.home / "state" / ".pulumi" / "locks").rglob("*.json")), "killed too late: the update was over"
    second = subprocess.run(up, capture_output=True, text=True, timeout=300, env=bare)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "an earlier `pulumi` was killed" in second.stderr
    kubectl("wait", "-n", "slurm", "--for=condition=Ready", "--timeout=60s", "pod/probe-system", "pod/probe-compute")
    assert pulumi("up", "--yes", "--expect-no-changes").returncode == 0
