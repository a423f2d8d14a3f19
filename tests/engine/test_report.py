"""`slipway report` of what the real engine tells: operations, secrets, failures and rules."""

from collections.abc import Callable
from pathlib import Path

import pytest

from operations.report import markdown
from operations.report.events import read
from operations.report.model import Report, build
from operations.report.preview import preview, selected
from tests.engine.project import Project
from tests.engine.test_language_policy import pack  # noqa: F401 -- a fixture

BEFORE = """
import pulumi
from pulumi_command import local
local.Command("kept", create="true", environment={"SIZE": "2", "KEY": pulumi.Output.secret("hunter-two")})
local.Command("gone", create="true")
local.Command("again", create="true", triggers=[1])
"""
AFTER = """
import pulumi
from pulumi_command import local
pulumi.log.warn("mind the step")
local.Command("kept", create="true", environment={"SIZE": "4", "KEY": pulumi.Output.secret("hunter-three")})
local.Command("again", create="true", triggers=[2])
local.Command("made", create="true", stdin=pulumi.Output.secret("hunter-four"))
"""


@pytest.fixture
def report(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    for name, value in project.env.items():
        monkeypatch.setenv(name, value)

    def make(*words: str) -> Report:
        return build(project.stack, read(preview(project.stack, project.directory, list(words))))

    return make


def test_what_the_engine_will_do_is_in_the_report_and_no_secret_is(
    project: Project, report: Callable[..., Report]
) -> None:
    project.write(BEFORE)
    project.up()
    project.write(AFTER)
    found = report("--show-secrets")
    operations = [(each.operation, each.name) for each in found.resources]
    assert operations == [("delete", "gone"), ("replace", "again"), ("create", "made"), ("update", "kept")]
    written = markdown.render(found)
    assert "1 resource deleted, 1 resource replaced" in written.splitlines()[1]
    assert "mind the step" in written
    assert "@@ environment.SIZE @@\n-2\n+4\n" in written
    assert "hunter" not in written


def test_a_secret_that_changes_is_told_without_either_value(project: Project, report: Callable[..., Report]) -> None:
    program = "import pulumi\nfrom pulumi_command import local\n"
    program += "local.Command('kept', create='true', stdin=pulumi.Output.secret('{}'))\n"
    project.write(program.format("hunter-two"))
    project.up()
    project.write(program.format("hunter-three"))
    [kept] = report().resources
    assert kept.operation == "update"
    assert kept.lines == ("@@ stdin @@", " (changes, and is not shown)")


def test_a_program_that_fails_is_reported_with_what_it_said(project: Project, report: Callable[..., Report]) -> None:
    project.write("import pulumi\nraise pulumi.RunError('the disks are not there')\n")
    found = report()
    assert not found.passed
    assert "the disks are not there" in markdown.render(found)


def test_a_preview_that_cannot_start_is_reported_too(project: Project, report: Callable[..., Report]) -> None:
    project.write(BEFORE)
    found = report("--no-such-option")
    assert not found.passed
    assert "unknown flag: --no-such-option" in markdown.render(found)


def test_a_broken_rule_stops_it_and_is_told(
    project: Project,
    report: Callable[..., Report],
    pack: Path,  # noqa: F811
) -> None:
    project.write("from pulumi_command import local\nlocal.Command('said', create='false')\n")
    found = report("--policy-pack", str(pack))
    assert not found.passed
    assert found.policy.endswith("1 mandatory and 0 advisory violations.")
    written = markdown.render(found)
    assert "⛔ **mandatory** `no-forbidden-words`" in written
    assert "`Command said`: false is forbidden" in written


def test_the_selected_stack_is_the_one_that_is_meant(project: Project, report: Callable[..., Report]) -> None:
    project.pulumi("stack", "select", project.stack)
    assert selected(project.directory) == project.stack
