"""`power`: as many pods as Slurm wants nodes to run, whatever it is called with."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "images" / "controller" / "power"

SCONTROL = r"""#!/bin/sh
case "$1 $2" in
    "show nodes") cat nodes ;;
    "show hostnames") echo "$3" | tr , '\n' ;;
    *) echo "$@" >> done ;;
esac
"""
# Answers for the scale of a StatefulSet, and notes what it was asked to be.
CURL = r"""#!/bin/sh
for word in "$@"; do
    case $word in
        https://*/scale*) url=${word%%\?*} ;;
        https://*/pods/*) echo "delete pods/${word##*/}" >> done; exit ;;
        \{*) data=$word ;;
    esac
done
set=${url%/scale}
set=${set##*/}
if [ -n "${data:-}" ]; then echo "$set $data" >> done; else
    printf '{"kind": "Scale", "spec": {%s}, "status": {"replicas": 7}}' "$(cat "$set" 2> /dev/null)"
fi
"""


class Pod:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in {"scontrol": SCONTROL, "curl": CURL}.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        (folder / "namespace").write_text("science")
        (folder / "token").write_text("secret")
        # The same, with the two places of the pod in a folder of the test's own.
        text = SCRIPT.read_text()
        text = text.replace("/var/run/secrets/kubernetes.io/serviceaccount", str(folder))
        (folder / "power").write_text(text.replace("/run/power.lock", str(folder / "lock")))

    def nodes(self, **states: str) -> None:
        lines = [
            f"NodeName={name.replace('_', '-')} Arch=x State={each} ThreadsPerCore=1" for name, each in states.items()
        ]
        (self.folder / "nodes").write_text("\n".join(lines) + "\n")

    def pods(self, node_set: str, number: int) -> None:
        (self.folder / node_set).write_text(f'"replicas": {number}' if number else "")

    def power(self, *words: str) -> list[str]:
        env = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        argv = ["sh", str(self.folder / "power"), *words]
        subprocess.run(argv, cwd=self.folder, env=env, check=True, capture_output=True, timeout=60)
        done = self.folder / "done"
        return done.read_text().splitlines() if done.exists() else []


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


def test_a_node_that_starts_gets_a_pod_and_all_before_it(pod: Pod) -> None:
    pod.nodes(gpu_0="IDLE", gpu_1="IDLE+CLOUD+POWERED_DOWN", gpu_2="ALLOCATED+CLOUD+POWERING_UP", worker_0="IDLE")
    pod.pods("gpu", 1)
    assert pod.power("gpu-2") == ['gpu {"spec":{"replicas":3}}']


@pytest.mark.parametrize("down", ["POWERED_DOWN", "POWERING_DOWN"])
def test_pods_of_stopped_nodes_at_the_end_go(pod: Pod, down: str) -> None:
    pod.nodes(gpu_0="IDLE+CLOUD", gpu_1=f"IDLE+CLOUD+{down}", gpu_2=f"IDLE+CLOUD+{down}")
    pod.pods("gpu", 3)
    assert pod.power("gpu-2") == ['gpu {"spec":{"replicas":1}}']


def test_a_pod_before_one_with_a_job_stays_and_starts_anew_once(pod: Pod) -> None:
    """It would not count as started by the next time that Slurm wants it."""
    pod.nodes(gpu_0="IDLE+CLOUD+POWERING_DOWN", gpu_1="ALLOCATED+CLOUD", gpu_2="IDLE+CLOUD+POWERED_DOWN")
    pod.pods("gpu", 2)
    assert pod.power("gpu-0") == ["delete pods/gpu-0"]
    assert len(pod.power("gpu-2")) == 1
    assert len(pod.power("settle", "gpu")) == 1


def test_a_pod_that_is_there_when_its_node_starts_is_left_alone(pod: Pod) -> None:
    pod.nodes(gpu_0="ALLOCATED+CLOUD+POWERING_UP", gpu_1="ALLOCATED+CLOUD")
    pod.pods("gpu", 2)
    assert pod.power("gpu-0") == []


def test_a_node_that_did_not_come_in_time_may_try_again(pod: Pod) -> None:
    pod.nodes(gpu_0="IDLE", gpu_1="DOWN+CLOUD+POWERED_DOWN", gpu_2="DOWN+CLOUD+NOT_RESPONDING")
    pod.pods("gpu", 3)
    assert pod.power("gpu-1,gpu-2") == ["update NodeName=gpu-1 State=RESUME"]


def test_nothing_at_all_runs_where_nothing_has_to(pod: Pod) -> None:
    pod.nodes(gpu_0="IDLE+CLOUD+POWERED_DOWN")
    pod.pods("gpu", 1)
    assert pod.power("gpu-0") == ['gpu {"spec":{"replicas":0}}']
    pod.pods("gpu", 0)  # a Scale of none has no field
    assert len(pod.power("gpu-0")) == 1


def test_node_sets_are_not_taken_for_one_another(pod: Pod) -> None:
    pod.nodes(gpu_0="IDLE+CLOUD", gpu_10="IDLE+CLOUD", **{"gpu-big_3": "IDLE+CLOUD"})
    pod.pods("gpu", 1)
    pod.pods("gpu-big", 1)
    assert pod.power("gpu-0") == ['gpu {"spec":{"replicas":11}}', 'gpu-big {"spec":{"replicas":4}}']


def test_a_node_set_whose_last_cloud_node_was_taken_out_is_settled_too(pod: Pod) -> None:
    pod.nodes(gpu_0="IDLE", worker_0="IDLE")
    pod.pods("gpu", 3)
    assert pod.power("settle", "gpu") == ['gpu {"spec":{"replicas":1}}']
