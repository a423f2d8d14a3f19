"""What a local.Command says: lines while it runs, the output of the run before, and secrets."""

import json

from tests.engine.project import Project

_HEAD = "import pulumi\nfrom pulumi_command import local\n"
_HIDE = "pulumi.ResourceOptions(additional_secret_outputs=['stdout'])"


def test_lines_are_shown_on_the_resource_as_the_logging_input_says(project: Project) -> None:
    project.write(
        _HEAD
        + """
for name in ("default", "stdout", "stderr", "stdoutAndStderr", "none"):
    local.Command(
        name,
        create="echo to stdout; echo to stderr >&2; printf unfinished",
        logging=None if name == "default" else name,
    )
pulumi.export("none", local.Command("quiet", create="echo still kept", logging="none").stdout)
"""
    )
    up = project.up()
    shown = {name: sorted(up.diagnostics("info", resource=name)) for name in ("default", "stdout", "stderr", "none")}
    assert shown == {
        "default": ["to stderr", "to stdout", "unfinished"],
        "stdout": ["to stdout", "unfinished"],
        "stderr": ["to stderr"],
        "none": [],
    }
    assert sorted(up.diagnostics("info", resource="stdoutAndStderr")) == shown["default"]
    assert project.outputs() == {"none": "still kept"}


def test_lines_are_shown_while_the_command_still_runs(project: Project) -> None:
    # The second line is written only after the first has been seen in the engine's own output.
    project.write(_HEAD + "local.Command('slow', create='echo first; while [ ! -e seen ]; do sleep 0.1; done')\n")
    engine = project.start("up", "--yes", "--skip-preview")
    assert engine.stdout
    for line in engine.stdout:
        if "slow creating" in line and "first" in line:
            (project.directory / "seen").touch()
            break
    engine.communicate(timeout=60)
    assert (project.directory / "seen").exists()
    assert engine.returncode == 0


def test_update_and_delete_get_the_output_of_the_run_before(project: Project) -> None:
    project.write(
        _HEAD
        + """
show = "env | grep ^PULUMI_COMMAND_ | sort | tr '\\\\n' ' '; echo $N >&2"
for name, add in {"on": None, "off": False}.items():
    command = local.Command(
        name,
        create="echo made; echo $N >&2",
        update=show,
        delete=show + f"; env | grep -c ^PULUMI_COMMAND_ > {name}.count",
        environment={"N": pulumi.Config().require("n")},
        add_previous_output_in_env=add,
    )
    pulumi.export(name, command.stdout)
"""
    )
    project.config("n", "1")
    project.up()
    assert project.outputs() == {"on": "made", "off": "made"}
    project.config("n", "2")
    project.up()
    assert project.outputs() == {"on": "PULUMI_COMMAND_STDERR=1 PULUMI_COMMAND_STDOUT=made ", "off": ""}
    project.destroy("--target", f"urn:pulumi:{project.stack}::{project.name}::command:local:Command::on")
    assert (project.directory / "on.count").read_text() == "2\n"


def test_secrets_stay_secret_in_state_and_on_screen(project: Project) -> None:
    project.config("word", "hush-hush", secret=True)
    project.write(
        _HEAD
        + f"""
word = pulumi.Config().require_secret("word")
env = local.Command("env", create="printf %s $WORD | wc -c", environment={{"WORD": word}})
fed = local.Command("fed", create="wc -c", stdin=word)
made = local.Command("made", create="echo made-secret", logging="none", opts={_HIDE})
pulumi.export("lengths", [env.stdout, fed.stdout])
pulumi.export("made", made.stdout)
"""
    )
    preview = project.preview("--diff")
    up = project.up("--diff")
    state = json.dumps(project.export())
    for secret in ("hush-hush", "made-secret"):
        assert secret not in preview.text.replace("echo made-secret", "")
        assert secret not in up.text.replace("echo made-secret", "")
        assert secret not in state.replace("echo made-secret", "")
    # Secret inputs do not make the output secret; `additional_secret_outputs` does.
    assert project.outputs() == {"lengths": ["9", "9"], "made": "[secret]"}
    assert project.outputs(show_secrets=True)["made"] == "made-secret"
    # A value that becomes a secret is a change, or its plain text would stay in the state.
    project.write(_HEAD + "local.Command('late', create='true', environment={'A': 'later-secret'})\n")
    project.up()
    project.write(
        _HEAD + "local.Command('late', create='true', environment={'A': pulumi.Output.secret('later-secret')})\n"
    )
    assert project.up().operation("late") == "update"
    assert "later-secret" not in json.dumps(project.export())


def test_a_secret_command_line_is_not_in_the_error(project: Project) -> None:
    project.write(_HEAD + "local.Command('a', create=pulumi.Output.secret('exit 7 # hush-hush'))\n")
    result = project.up(fails=True)
    assert "exit status 7" in result.text
    assert "hush-hush" not in result.text
