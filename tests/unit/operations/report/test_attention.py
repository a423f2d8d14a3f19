"""What a reviewer must not overlook."""

from typing import Any

import pytest

from operations.report import markdown
from operations.report.events import Preview, read
from operations.report.model import Report, build
from slurm.planning.told import Told
from tests.unit.components.deployed import settings_of
from tests.unit.operations.report.told import DONE, change, report, said, step, violation, workers

SET = "kubernetes:apps/v1:StatefulSet"
FAILED = {"summaryEvent": {"result": "failed"}}
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"


def workload(name: str, image: str, replicas: int = 1, node_set: str = "") -> dict[str, Any]:
    metadata = {"labels": {"app.kubernetes.io/name": name, "slipway/node-set": node_set}}
    return {"metadata": metadata, "spec": {"replicas": replicas, "template": {"spec": {"image": image}}}}


def points(found: Report) -> str:
    return "\n".join("".join(each.text) + " " + "; ".join(each.details) for each in found.attention)


def test_a_deleted_claim_is_told_with_what_goes_with_it() -> None:
    found = report(step("delete", CLAIM, "dev-jail", {"x": 1}))
    assert found.mark == "attention"
    assert "1 resource deleted" in "".join(found.verdict)
    assert "PersistentVolumeClaim dev-jail, with the files that are stored in it" in points(found)


def test_what_is_only_forgotten_is_not_told_as_deleted() -> None:
    found = report(step("delete", CLAIM, "dev-jail", {"x": 1}, retained=True))
    assert found.mark == "fine"
    assert "left in the cluster" in points(found)


def test_a_replacement_is_told_once_with_its_reason() -> None:
    found = report(
        step("create-replacement", SET, "dev-worker", {"x": 1}, {"x": 2}, keys=["spec.selector"]),
        step("replace", SET, "dev-worker", {"x": 1}, {"x": 2}, keys=["spec.selector"]),
        step("delete-replaced", SET, "dev-worker", {"x": 1}),
    )
    assert [each.operation for each in found.resources] == ["replace"]
    assert "StatefulSet dev-worker, because of spec.selector" in points(found)
    assert found.counts == "Resources: 1 to replace, 0 unchanged."


def test_a_job_that_runs_again_needs_no_attention() -> None:
    found = report(step("replace", "kubernetes:batch/v1:Job", "dev-apply-users", {"x": 1}, {"x": 2}))
    assert found.mark == "fine"
    assert "Runs again: dev-apply-users" in points(found)


def test_more_pods_are_no_restart() -> None:
    found = report(step("update", SET, "dev-worker", workload("worker", "a", 2), workload("worker", "a", 4)))
    assert found.mark == "fine"


@pytest.mark.parametrize(
    ("role", "node_set", "words"),
    [
        ("controller", "", "slurmctld restarts"),
        ("login", "", "ssh sessions end"),
        ("worker", "gpu", "The pods of gpu are drained, replaced and resumed"),
        ("rest", "", "The pods of dev-it restart"),
    ],
)
def test_changed_pods_restart(role: str, node_set: str, words: str) -> None:
    old, new = (workload(role, image, node_set=node_set) for image in "ab")
    found = report(step("update", SET, "dev-it", old, new))
    assert found.mark == "attention"
    assert words in points(found)


def test_jobs_on_pods_that_are_replaced_are_told() -> None:
    old, new = (workload("worker", image, node_set="gpu") for image in "ab")
    running = (("gpu-[0-1]", "1 (alice, on gpu-[0-1])"), ("worker-0", "2 (bob, on worker-0)"))
    found = report(change(workers(2), workers(2), running=running), step("update", SET, "dev-gpu", old, new))
    assert "pods of gpu replaced, 1 running job waited for" in "".join(found.verdict)
    assert "1 (alice, on gpu-[0-1])" in points(found)
    assert "bob" not in points(found)


def test_a_restart_that_only_the_plan_knows_of_is_told_too() -> None:
    found = report(change(settings_of(), settings_of(cluster={"auth": "slurm"})))
    assert "Every worker is drained, restarted and resumed in its turn." in points(found)


def test_a_cluster_that_does_not_answer_makes_drains_doubtful() -> None:
    found = report(change(workers(4), workers(2), unreachable="no such host"))
    assert "running jobs are not known" in "".join(found.verdict)
    harmless = report(change(workers(2), workers(4), unreachable="no such host"))
    assert harmless.mark == "fine"
    assert "The cluster did not answer" in points(harmless)


def test_an_unfinished_update_is_told() -> None:
    assert "did not end" in points(report(change(workers(2), workers(4), unfinished=True)))


def test_nothing_to_do_is_said_in_one_line() -> None:
    written = markdown.render(report(change(workers(2), workers(2))))
    assert "`dev`: no changes." in written
    assert "Needs attention" not in written


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([said("it broke", "error"), DONE], "the preview failed"),
        ([FAILED], "the preview failed"),
        ([said("killed in its midst")], "the preview failed"),
        ([violation("no"), DONE], "stopped by 1 mandatory policy violation"),
        (
            [violation("no"), violation("never"), {"summaryEvent": {"result": "failed"}}],
            "2 mandatory policy violations",
        ),
    ],
    ids=["error", "failed", "no end", "rule", "rules"],
)
def test_what_cannot_go_on_is_stopped(events: list[dict[str, Any]], words: str) -> None:
    found = build("dev", read(events))
    assert not found.passed
    assert words in "".join(found.verdict)


def test_an_advisory_violation_stops_nothing() -> None:
    found = report(violation("better not", "advisory"), change(workers(2), workers(4)))
    assert found.passed
    assert "⚠️ advisory `images`" in markdown.render(found)


def test_rules_that_were_not_all_asked_are_not_called_kept() -> None:
    failed = {"policyAnalyzeSummaryEvent": {"passed": ["images"]}}
    assert "not everything was checked" in report(failed, said("it broke", "error")).policy
    assert report(failed).policy == "1 rule checked: no violations."


def test_a_log_that_was_not_made_for_a_report_tells_the_files_by_the_outputs() -> None:
    before, after = (Told.between(None, {"slurm.conf": text}).after for text in ("ClusterName=a\n", "ClusterName=b\n"))
    stack = {"op": "update", "urn": "urn:pulumi:dev::slipway::pulumi:pulumi:Stack::x", "type": "pulumi:pulumi:Stack"}
    sides = {"old": {"outputs": {"files": before}}, "new": {"outputs": {"files": after}}}
    preview: Preview = read([{"resOutputsEvent": {"metadata": {**stack, **sides}}}])
    assert preview.told
    assert preview.told.plan.refused
