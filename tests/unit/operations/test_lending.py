"""What becomes of lent machines when the bridge is gone; and the certificate that it had."""

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from operations import certificate
from operations.kubectl import Cluster
from operations.lending import returned
from operations.problem import Problem

OTHERS = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}


def taint(scheduler: str) -> dict[str, str]:
    return {"key": "slinky.slurm.net/managed-node", "value": scheduler, "effect": "NoExecute"}


def node(name: str, labels: dict[str, str] | None = None, *taints: dict[str, str]) -> dict[str, Any]:
    spec = {"taints": list(taints)} if taints else {}
    return {"metadata": {"name": name, "resourceVersion": "7", "labels": labels or {}}, "spec": spec}


def test_marks_and_taint_are_taken_off_and_nothing_else_is() -> None:
    labels = {"slipway/lent": "slurm", "slinky.slurm.net/slurm-nodename": "worker-0", "pool": "a"}
    [(name, change)] = returned([node("m1", labels, OTHERS, taint("x"))], "slurm", "x")
    assert name == "m1"
    assert change["metadata"]["labels"] == {"slipway/lent": None, "slinky.slurm.net/slurm-nodename": None}
    assert change["metadata"]["resourceVersion"] == "7", "taints that come in between are not lost"
    assert change["spec"]["taints"] == [OTHERS]


def test_a_taint_that_was_left_behind_goes_too() -> None:
    [(_, change)] = returned([node("m1", None, taint("ours"))], "slurm", "ours")
    assert change["spec"]["taints"] == []
    assert change["metadata"]["labels"] == {}


def test_machines_of_others_are_left_alone() -> None:
    others = [node("a"), node("b", {"slipway/lent": "elsewhere"}, taint("theirs")), node("c", None, OTHERS)]
    assert list(returned(others, "slurm", "ours")) == []


KUBECTL = """#!/bin/sh
echo "$*" >> asked
case "$*" in
    *"get nodes"*) cat nodes ;;
    *"patch node"*) printf '{"items": []}' > nodes ;;
    *exec*) cat >> asked; [ ! -e busy ] || { echo "slurm_delete_node error: Node is busy" >&2; exit 1; } ;;
esac
"""


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kubectl").write_text(KUBECTL)
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    external = {"slipway/lent": "slurm", "scheduler.slinky.slurm.net/external-node": "true"}
    (tmp_path / "nodes").write_text(json.dumps({"items": [node("m1", external, taint("x"))]}))
    return tmp_path


def test_slurm_forgets_a_node_that_only_the_bridge_knew(kubectl: Path) -> None:
    from operations.lending import return_nodes

    return_nodes(Cluster("slurm"), "x")
    asked = (kubectl / "asked").read_text()
    assert "patch node m1" in asked
    assert "scontrol delete" in asked


def test_a_node_with_jobs_is_told_of_and_kept(kubectl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from operations.lending import return_nodes

    (kubectl / "busy").touch()
    return_nodes(Cluster("slurm"), "x")
    assert "`scontrol delete nodename=m1` removes it" in capsys.readouterr().err


def test_machines_that_cannot_be_had_back_are_a_problem(kubectl: Path) -> None:
    from operations.lending import return_nodes

    refusing = KUBECTL.replace("printf '{\"items\": []}' > nodes", "echo 'the object has been modified' >&2; exit 1")
    (kubectl / "kubectl").write_text(refusing)
    with pytest.raises(Problem, match="the object has been modified"):
        return_nodes(Cluster("slurm"), "x")


def test_the_certificate_is_for_its_host_and_signed_by_its_authority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = f"bridge-admission.{'n' * 60}.svc"  # longer than a common name may be
    assert certificate.main(host) == 0
    names = ("ca.crt", "tls.crt", "tls.key")
    for name, word in zip(names, capsys.readouterr().out.split(), strict=True):
        (tmp_path / name).write_bytes(base64.b64decode(word))
    verify = [
        "openssl",
        "verify",
        "-x509_strict",
        "-CAfile",
        "ca.crt",
        "-purpose",
        "sslserver",
        "-verify_hostname",
        host,
        "tls.crt",
    ]
    done = subprocess.run(verify, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    other = [word.replace("bridge-admission", "another") for word in verify]
    assert subprocess.run(other, cwd=tmp_path, capture_output=True).returncode != 0
