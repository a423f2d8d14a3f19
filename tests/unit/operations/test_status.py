"""One screen that tells how a cluster is."""

import json
import sys
from pathlib import Path

import pytest

from operations import cli, status
from operations.kubectl import Cluster
from operations.problem import Problem
from tests.unit.operations.kubernetes import Kubernetes

ANSWER = """\
=== config
Configuration data as of 2026-11-16T13:18:13
BOOT_TIME               = 2026-11-16T13:17:57
=== partitions
PartitionName=main AllowGroups=ALL State=UP TotalCPUs=3 TotalNodes=3
PartitionName=side AllowGroups=ALL State=DRAIN TotalCPUs=1 TotalNodes=1
=== nodes
NodeName=worker-0 State=IDLE SlurmdStartTime=2026-11-16T13:18:13
NodeName=worker-1 State=MIXED SlurmdStartTime=2026-11-16T13:18:13
NodeName=worker-2 State=IDLE+DRAIN SlurmdStartTime=2026-11-16T13:18:13 Reason=new disks [root@2026-11-16T13:18:13]
NodeName=side-0 State=DOWN+NOT_RESPONDING
=== queue
RUNNING|main
PENDING|main,side
PENDING|main
=== digest
0123456789abcdef0123
"""


def pod(name: str, ready: bool = True) -> dict[str, object]:
    return {
        "metadata": {"name": name, "labels": {"slipway/node-set": name.rpartition("-")[0]}},
        "spec": {"restartPolicy": "Always", "nodeName": "compute-0"},
        "status": {"phase": "Running", "containerStatuses": [{"ready": ready, "restartCount": 1}]},
    }


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    pods = [pod("worker-0"), pod("worker-1"), pod("worker-2"), pod("side-0", ready=False)]
    record = {"data": {"applied": json.dumps({"slurm.conf": "x"}), "since": "0"}}

    def kubectl(_: Cluster, *words: str, **__: object):
        done = __import__("subprocess").CompletedProcess
        if words[:2] == ("get", "pods"):
            return done(words, 0, json.dumps({"items": pods}), "")
        if words[:2] == ("get", "configmap"):
            return done(words, 0, json.dumps(record), "")
        return done(words, 0, ANSWER, "")

    monkeypatch.setattr(Cluster, "kubectl", kubectl)
    return Cluster("science")


def test_nodes_are_counted_by_what_they_do(cluster: Cluster) -> None:
    found = status.status(cluster)
    assert found["nodeSets"]["worker"] == {
        **{"pods": 3, "ready": 3, "nodes": 3, "idle": 1, "busy": 1, "drained": 1, "down": 0}
    }
    assert found["nodeSets"]["side"]["down"] == 1
    assert found["queue"] == {"RUNNING": 1, "PENDING": 2}
    assert [(each["name"], each["running"], each["pending"]) for each in found["partitions"]] == [
        ("main", 1, 2),
        ("side", 0, 1),
    ]


def test_the_screen_names_what_needs_a_look(cluster: Cluster) -> None:
    shown = status.screen(status.status(cluster))
    assert "verified" in shown
    assert "slurmctld is up since 2026-11-16T13:17:57" in shown
    assert any(line.split() == ["worker-2", "DRAIN+IDLE", "new", "disks"] for line in shown.splitlines())
    assert any(line.startswith("side-0") and "NOT_RESPONDING" in line for line in shown.splitlines())
    assert len(shown.splitlines()) < 25


def test_an_update_that_did_not_end_is_told_with_the_way_out(cluster: Cluster) -> None:
    found = status.status(cluster)
    found["config"]["unfinished"] = True
    assert "run `pulumi up`" in status.screen(found)


@pytest.fixture
def stack(tmp_path: Path) -> str:
    file = tmp_path / "Pulumi.x.yaml"
    images = "slipway:images: {registry: registry.example.com/slipway, tag: '1'}"
    file.write_text(f"config:\n  slipway:cluster: {{namespace: science}}\n  {images}\n")
    return str(file)


def slipway(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["slipway", *words])
    return cli.main()


def test_nodes_that_are_not_there_cannot_be_drained(running: Kubernetes, stack, monkeypatch, capsys) -> None:
    assert slipway(monkeypatch, "drain", "worker-[0-9]", "--reason", "disks", "--file", stack) == 1
    assert "There is no node worker-3" in capsys.readouterr().err


def test_a_drain_by_hand_has_the_administrators_reason(running: Kubernetes, stack, monkeypatch, capsys) -> None:
    assert slipway(monkeypatch, "drain", "worker-[0-1]", "--reason", "new disks", "--file", stack, "--json") == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == ["worker-0", "worker-1"]
    assert running.slurm.nodes["worker-1"].reason == "new disks"


def test_a_drain_needs_a_reason(stack, monkeypatch, capsys) -> None:
    with pytest.raises(SystemExit):
        slipway(monkeypatch, "drain", "worker-0", "--file", stack)
    assert "--reason" in capsys.readouterr().err


def test_unknown_options_are_refused_but_for_those_of_pulumi(stack, monkeypatch, capsys) -> None:
    with pytest.raises(SystemExit):
        slipway(monkeypatch, "status", "--yes", "--file", stack)
    handed: list[list[str]] = []
    monkeypatch.setattr("operations.recover.up", lambda stack, words: handed.append([stack, *words]) or 0)
    assert slipway(monkeypatch, "up", "--stack", "dev", "--yes", "--skip-preview") == 0
    assert handed == [["dev", "--yes", "--skip-preview"]]


def test_a_cluster_that_does_not_answer_is_a_message(bare: Kubernetes, stack, monkeypatch, capsys) -> None:
    bare.reachable = False
    assert slipway(monkeypatch, "status", "--file", stack) == 1
    assert capsys.readouterr().err.strip()
    with pytest.raises(Problem):
        status.status(Cluster("science"))


def test_slurmdbd_is_spoken_of_only_where_there_is_one(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    found = status.status(cluster)
    assert found["slurmdbd"] is None
    assert "slurmdbd" not in status.screen(found)
    pods = cluster.list("pods")
    for ready, said in ((True, "slurmdbd is up"), (False, "slurmdbd in accounting-0 does not answer: jobs go on")):
        monkeypatch.setattr(Cluster, "list", lambda *_, ready=ready: [*pods, pod("accounting-0", ready)])
        assert said in status.screen(status.status(cluster))
