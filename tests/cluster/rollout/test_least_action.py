"""The least that suffices, and what a preview says about it beforehand."""

import re
from pathlib import Path

import pytest

from tests.cluster.changes import change, uids
from tests.cluster.rollout.jobs import Jobs
from tests.cluster.stacks import Stack
from tests.cluster.updates import settled, slipway


def partition(stack: Stack, **fields: object) -> None:
    partitions = stack.config["slipway:partitions"]
    change(stack, "partitions", main={**partitions["main"], **fields})


def started(stack: Stack) -> str:
    """When slurmctld has last read its files."""
    [line] = re.findall(r"BOOT_TIME\s+= (\S+)", stack.admin("scontrol", "show", "config"))
    return line


def test_a_live_change_takes_effect_without_a_reconfigure_and_survives_one(rollout: Stack, jobs: Jobs) -> None:
    before = started(rollout)
    partition(rollout, maxTime="12:00:00", priorityTier=5)
    said = rollout.up("--skip-preview").stdout
    assert "scontrol update PartitionName=main MaxTime=12:00:00" in said
    assert "reconfigured" not in said
    assert "verified" in said
    assert started(rollout) == before
    for _ in range(2):
        shown = rollout.admin("scontrol", "show", "partition", "main")
        assert "MaxTime=12:00:00" in shown
        assert "PriorityTier=5" in shown
        rollout.admin("scontrol", "reconfigure")
    settled(rollout)


def test_several_changes_are_one_reconfigure(rollout: Stack, jobs: Jobs) -> None:
    pods = uids(rollout)
    partition(rollout, maxTime="13:00:00")
    change(rollout, "slurm", extra={"KillWait": 40, "MaxJobCount": 50000})
    said = rollout.up("--skip-preview").stdout
    assert said.count("; reconfigured") == 1
    shown = rollout.admin("scontrol", "show", "config")
    assert re.search(r"KillWait\s+= 40 sec", shown)
    assert re.search(r"MaxJobCount\s+= 50000", shown)
    assert uids(rollout) == pods, "no pod was restarted for it"
    settled(rollout)


def test_a_change_that_slurmctld_reads_only_at_its_start_restarts_it_alone(rollout: Stack, jobs: Jobs) -> None:
    pods = uids(rollout)
    change(rollout, "rest", enabled=True)
    said = rollout.up("--skip-preview").stdout
    assert "restarting slurmctld" in said
    after = uids(rollout)
    assert {name for name in pods if pods[name] != after[name]} == {"controller-0"}
    assert "auth/jwt" in rollout.admin("scontrol", "show", "config")
    settled(rollout)


def test_a_preview_shows_the_diff_of_the_files_and_what_it_does(rollout: Stack) -> None:
    before = rollout.file.read_text()
    try:
        partition(rollout, maxTime="14:00:00")
        shown = rollout.pulumi("preview").stdout
    finally:
        rollout.file.write_text(before)
    assert re.search(r"-PartitionName=main .*MaxTime=13:00:00", shown)
    assert re.search(r"\+PartitionName=main .*MaxTime=14:00:00", shown)
    assert re.search(r"live +partition main +MaxTime +13:00:00 -> 14:00:00", shown)


def test_a_preview_without_a_cluster_goes_by_the_last_deploy(rollout: Stack, tmp_path: Path) -> None:
    before = rollout.file.read_text()
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text(re.sub(r"server: \S+", "server: https://127.0.0.1:1", rollout.lab.kubeconfig.read_text()))
    try:
        partition(rollout, maxTime="14:00:00")
        shown = rollout.pulumi("preview", KUBECONFIG=str(nowhere))
    finally:
        rollout.file.write_text(before)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert re.search(r"live +partition main +MaxTime +13:00:00 -> 14:00:00", shown.stdout)
    assert "The cluster does not answer" in shown.stdout


@pytest.mark.parametrize(
    ("section", "field", "value", "reason"),
    [
        ("cluster", "name", "other", "The saved state belongs to the cluster's name"),
        ("cluster", "namespace", "elsewhere", "What is stored there would stay behind"),
        ("controller", "state", {"storageClass": "other", "size": "1Gi"}, "What is stored there would stay behind"),
    ],
)
def test_what_would_lose_state_is_refused_before_anything_is_made(
    rollout: Stack, section: str, field: str, value: object, reason: str
) -> None:
    before = rollout.file.read_text()
    try:
        change(rollout, section, **{field: value})
        for words in (["preview"], ["up", "--yes", "--skip-preview"]):
            refused = rollout.pulumi(*words)
            assert refused.returncode != 0
            assert reason in refused.stdout + refused.stderr
            assert "updated" not in refused.stdout
    finally:
        rollout.file.write_text(before)
    settled(rollout)


def test_what_an_administrator_changes_live_is_drift_that_can_be_kept(rollout: Stack) -> None:
    assert slipway(rollout, "drift").returncode == 0
    rollout.admin("scontrol", "update", "PartitionName=main", "MaxTime=15:00:00")
    drifted = slipway(rollout, "drift")
    assert drifted.returncode == 1
    assert re.search(r"partition main +MaxTime +13:00:00 +15:00:00", drifted.stdout)
    kept = slipway(rollout, "drift", "--adopt").stdout
    assert "maxTime: '15:00:00'" in kept or "maxTime: 15:00:00" in kept
    partition(rollout, maxTime="15:00:00")
    rollout.up("--skip-preview")
    settled(rollout)
