"""What a failing local.Command leaves behind, and what it says."""

from tests.engine.project import Project

_HEAD = "import pulumi\nfrom pulumi_command import local\n"


def test_a_failed_create_leaves_nothing_and_says_why(project: Project) -> None:
    project.write(_HEAD + "local.Command('a', create='echo out; echo err >&2; exit 3')\n")
    result = project.up(fails=True)
    assert result.failed == ["a"]
    [error] = result.diagnostics("error", resource="a")
    first, *rest = error.splitlines()
    assert first == 'exit status 3: running "echo out; echo err >&2; exit 3":'
    assert sorted(rest) == ["err", "out"]
    assert project.resource("a") is None


def test_a_failed_update_keeps_the_old_inputs(project: Project) -> None:
    ran = project.directory / "ran"
    program = _HEAD + "local.Command('a', create='echo $N >> ran; test $N -lt 2', environment={{'N': '{}'}})\n"
    project.write(program.format(1))
    project.up()
    project.write(program.format(2))
    result = project.up(fails=True)
    assert result.operation("a") == "update"
    state = project.resource("a")
    assert state
    assert state["inputs"]["environment"] == {"N": "1"}
    # Going back shows no change and does not run; going on runs again.
    project.write(program.format(1))
    assert project.up().operation("a") == "same"
    assert ran.read_text().split() == ["1", "2"]
    project.write(program.format(2))
    project.up(fails=True)
    assert ran.read_text().split() == ["1", "2", "2"]


def test_a_failed_delete_keeps_the_resource(project: Project) -> None:
    project.write(_HEAD + "local.Command('a', create='true', delete='test -e allowed')\n")
    project.up()
    result = project.destroy(fails=True)
    assert 'exit status 1: running "test -e allowed"' in result.text
    assert project.resource("a")
    (project.directory / "allowed").touch()
    project.destroy()
    assert project.resource("a") is None


def test_what_cannot_be_run_is_named(project: Project) -> None:
    project.write(
        _HEAD
        + """
local.Command("dir", create="true", dir="nowhere")
local.Command("interpreter", create="true", interpreter=["/no/such/shell"])
local.Command("killed", create="kill -9 $$")
local.Command("large", create="true", environment={"A": "x" * 200_000})
local.Command("deaf", create="exit 5", stdin="x" * 200_000)
one_second = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="1s"))
local.Command("late", create="sleep 600", opts=one_second)
"""
    )
    result = project.up("--continue-on-error", fails=True)
    errors = {name: " ".join(result.diagnostics("error", resource=name)) for name in result.failed}
    assert "the directory nowhere (input `dir`) does not exist" in errors["dir"]
    assert "/no/such/shell" in errors["interpreter"]
    assert "ended by signal SIGKILL" in errors["killed"]
    assert "too much in the command line or the environment" in errors["large"]
    assert "exit status 5" in errors["deaf"]
    assert "did not end within 1 s" in errors["late"]


def test_wrong_inputs_are_refused_at_preview(project: Project) -> None:
    project.write(
        _HEAD
        + """
local.Command("wrong", create="true", environment={"N": 1}, interpreter="sh", logging="loud", archive_paths=["*.txt"])
"""
    )
    result = project.preview(fails=True)
    for reason in (
        "N must be a string, is a number",
        "must be a list, is a string",
        "must be one of stdout, stderr, stdoutAndStderr, none, is 'loud'",
        "does not collect files",
    ):
        assert reason in result.text
    project.write("import pulumi\npulumi.CustomResource('command:remote:Command', 'far', {})\n")
    assert "this provider has no command:remote:Command" in project.preview(fails=True).text
