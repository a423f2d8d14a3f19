"""Workflows are pinned, may do no more than they must, and never run what a pull request says of itself."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from operations.report.markdown import marker

HOUSE = Path(__file__).parents[2]
WORKFLOWS = sorted((HOUSE / ".github" / "workflows").glob("*.yml"))
ALL = [*WORKFLOWS, *sorted((HOUSE / ".github" / "actions").rglob("*.yml"))]
GITLAB = HOUSE / "docs" / "examples" / "gitlab-ci.yml"


def read(file: Path) -> dict[Any, Any]:
    return yaml.safe_load(file.read_text())


def jobs(file: Path) -> dict[str, dict[str, Any]]:
    return read(file)["jobs"]


def steps(file: Path) -> list[dict[str, Any]]:
    content = read(file)
    listed = [content["runs"]] if "runs" in content else content["jobs"].values()
    return [step for each in listed for step in each["steps"]]


def names(files: list[Path]) -> list[str]:
    return [str(file.relative_to(HOUSE / ".github")) for file in files]


@pytest.mark.parametrize("file", ALL, ids=names(ALL))
def test_actions_are_pinned_by_commit_with_the_version_beside_it(file: Path) -> None:
    for line in file.read_text().splitlines():
        if (found := re.search(r"uses: (\S+)(.*)", line)) and not found[1].startswith("./"):
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", found[1]), line
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", found[2]), line


@pytest.mark.parametrize("file", ALL, ids=names(ALL))
def test_scripts_get_values_by_their_environment_only(file: Path) -> None:
    """An expression inside a script is pasted into it, whatever it holds: a branch may be called `$(…)`."""
    for step in steps(file):
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("file", WORKFLOWS, ids=names(WORKFLOWS))
def test_a_workflow_may_do_no_more_than_it_says(file: Path) -> None:
    content = read(file)
    assert content["permissions"] in ({}, {"contents": "read"})
    assert "pull_request_target" not in content[True]  # YAML reads `on` as a yes
    for job in content["jobs"].values():
        assert job.get("permissions", {"contents": "read"}) in ({"contents": "read"}, {"pull-requests": "write"})
        assert job["timeout-minutes"] <= 360
        assert "concurrency" in job or "concurrency" in content


@pytest.mark.parametrize("file", WORKFLOWS, ids=names(WORKFLOWS))
def test_what_may_write_runs_no_code_of_the_pull_request_and_has_no_secrets(file: Path) -> None:
    for job in jobs(file).values():
        if job.get("permissions") == {"pull-requests": "write"}:
            assert not any("checkout" in step.get("uses", "") for step in job["steps"])
            assert "secrets." not in str(job)
            assert "environment" not in job


@pytest.mark.parametrize("file", WORKFLOWS, ids=names(WORKFLOWS))
def test_secrets_come_with_an_environment(file: Path) -> None:
    for job in jobs(file).values():
        if "secrets." in str(job):
            assert "${{ matrix.stack }}" in str(job["environment"])
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_an_update_is_never_cancelled_by_the_next_one() -> None:
    [job] = jobs(HOUSE / ".github/workflows/deploy.yml").values()
    assert job["concurrency"] == {"group": "deploy-${{ matrix.stack }}", "cancel-in-progress": False}
    assert job["strategy"]["max-parallel"] == 1


def test_the_comment_is_found_by_the_marker_that_reports_have() -> None:
    stack = "${{ matrix.stack }}"
    assert marker("dev").replace("dev", stack) in (HOUSE / ".github/workflows/preview.yml").read_text()
    assert marker("dev").replace("dev", "{stack}") in (HOUSE / "docs/examples/gitlab_note.py").read_text()


def test_the_example_for_gitlab_names_the_version_of_the_lock_and_queues_updates() -> None:
    content = read(GITLAB)
    version = re.search(r"^pulumi==(\S+)", (HOUSE / "requirements.lock").read_text(), re.MULTILINE)
    assert version
    assert content["default"]["image"] == f"pulumi/pulumi:{version[1]}"
    assert content[".up"]["resource_group"] == "$STACK"
    assert not content[".up"]["interruptible"]


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="no actionlint here; the workflow `check` has one")
def test_actionlint_finds_nothing() -> None:
    done = subprocess.run(["actionlint"], cwd=HOUSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
