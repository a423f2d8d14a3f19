"""local.Command through its life: create, update, replace, delete, and what preview says about it."""

from pathlib import Path

from tests.engine.project import Project

_HEAD = "import pulumi\nfrom pulumi_command import local\n"


def test_each_input_reaches_the_command(project: Project) -> None:
    (project.directory / "there").mkdir()
    project.write(
        _HEAD
        + """
plain = local.Command("plain", create="pwd; echo; echo")
fed = local.Command(
    "fed",
    create="pwd; cat; echo $WORD $HOME_OF_ENGINE; echo oops >&2",
    environment={"WORD": "hello"},
    stdin="from stdin\\n",
    dir="there",
)
python = local.Command("python", create="import sys; print(sys.argv[0], end='')", interpreter=["python3", "-c"])
multi = local.Command("multi", create=plain.stdout.apply(lambda text: f"echo '{text}' | wc -l"))
idle = local.Command("idle", delete="true")
for name, command in {"plain": plain, "fed": fed, "python": python, "multi": multi, "idle": idle}.items():
    pulumi.export(name, [command.stdout, command.stderr])
"""
    )
    up = project.up(env={"HOME_OF_ENGINE": "is inherited"})
    assert up.diagnostics("warning") == []  # the plugins are found where the engine expects them
    there = project.directory / "there"
    assert project.outputs() == {
        # One trailing newline is dropped, not all of them.
        "plain": [f"{project.directory}\n\n", ""],
        "fed": [f"{there}\nfrom stdin\nhello is inherited", "oops"],
        "python": ["-c", ""],
        "multi": ["3", ""],
        "idle": ["", ""],
    }
    assert {up.operation(name) for name in ("plain", "fed", "python", "multi", "idle")} == {"create"}
    state = project.resource("fed")
    assert state
    assert state["id"].startswith("fed")
    assert state["inputs"]["addPreviousOutputInEnv"] is True


def test_preview_runs_nothing_and_shows_outputs_as_unknown(project: Project) -> None:
    program = (
        _HEAD
        + """
a = local.Command("a", create="echo {0} | tee -a ran")
local.Command("b", create="cat", stdin=a.stdout)
pulumi.export("a", a.stdout)
"""
    )
    ran = project.directory / "ran"
    project.write(program.format("one"))
    assert "a: [unknown]" in project.preview("--diff").text
    assert not ran.exists()
    project.up()
    project.write(program.format("two"))
    preview = project.preview("--diff")
    assert preview.operation("a") == "update"
    assert 'stdin: "one" => [unknown]' in preview.text
    assert ran.read_text() == "one\n"
    project.up()
    assert ran.read_text() == "one\ntwo\n"


def test_a_changed_environment_updates_in_place_and_an_unchanged_command_does_not_run(project: Project) -> None:
    ran = project.directory / "ran"
    program = (
        _HEAD
        + """
hash = {{"HASH": "{0}"}}
first = local.Command("with", create="echo create >> ran", update="echo update $HASH >> ran", environment=hash)
after = pulumi.ResourceOptions(depends_on=[first])
local.Command("without", create="echo again $HASH >> ran", environment=hash, opts=after)
"""
    )
    project.write(program.format("1"))
    project.up()
    before = project.resource("with")
    assert _take(ran) == ["create", "again 1"]
    assert project.up().operation("with") == "same"
    assert not ran.exists()
    project.write(program.format("2"))
    up = project.up()
    assert [up.operation("with"), up.operation("without")] == ["update", "update"]
    assert up.changed("with") == ["environment.HASH"]
    # Without an `update`, `create` runs again.
    assert _take(ran) == ["update 2", "again 2"]
    after = project.resource("with")
    assert before
    assert after
    assert after["id"] == before["id"]


def test_changed_triggers_replace_and_then_run_the_old_delete(project: Project) -> None:
    ran = project.directory / "ran"
    program = _HEAD + (
        "local.Command('a', create='echo create {0} >> ran', update='echo update >> ran',"
        " delete='echo delete {0} >> ran', triggers=[{0}, 'x'])\n"
    )
    project.write(program.format(1))
    project.up()
    project.write(program.format(2))
    preview = project.preview("--diff")
    assert preview.operation("a") == "replace"
    up = project.up()
    assert up.operation("a") == "replace"
    assert _take(ran) == ["create 1", "create 2", "delete 1"]
    assert ("create-replacement", "a") in up.steps
    # A trigger that is taken away replaces too.
    project.write(program.format(2).replace(", 'x'", ""))
    assert project.up().operation("a") == "replace"


def test_delete_runs_with_the_last_state_and_is_optional(project: Project) -> None:
    ran = project.directory / "ran"
    project.write(
        _HEAD
        + """
bye = "echo bye $PULUMI_COMMAND_STDOUT $NAME >> ran"
local.Command("kept", create="echo 42", delete=bye, environment={"NAME": "x"})
local.Command("silent", create="true")
"""
    )
    project.up()
    refresh = project.refresh()
    assert not ran.exists()
    assert "unchanged" in refresh.text
    destroy = project.destroy()
    assert [destroy.operation("kept"), destroy.operation("silent")] == ["delete", "delete"]
    assert _take(ran) == ["bye 42 x"]


def test_the_run_function_runs_at_preview_too(project: Project) -> None:
    project.write(
        _HEAD
        + """
pulumi.export("run", local.run_output(command="cat; echo $A >> ran", stdin="x", environment={"A": "b"}).stdout)
"""
    )
    project.preview()
    assert _take(project.directory / "ran") == ["b"]
    project.up()
    assert project.outputs() == {"run": "x"}
    assert _take(project.directory / "ran") == ["b"]


def _take(path: Path) -> list[str]:
    """The lines of `path`, which is gone then."""
    lines = path.read_text().splitlines()
    path.unlink()
    return lines
