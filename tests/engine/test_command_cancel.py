"""A running local.Command ends with the update. The `project` fixture checks that nothing runs on."""

import signal
import subprocess
from pathlib import Path

from tests.engine.project import Project
from tests.engine.test_language_cancel import wait_for

# Has a child of its own, and something to put back when it is asked to end.
_SCRIPT = """
trap 'echo put back > put-back; exit 1' TERM
sleep 600 &
touch started
wait
"""
# Does not listen, and neither does its child, which has no output that anybody reads.
_DEAF = """
trap '' TERM INT
sleep 600 >/dev/null 2>&1 &
touch started
sleep 600
"""


def test_ctrl_c_ends_the_command_and_lets_it_put_things_back(project: Project) -> None:
    engine = _started(project, _SCRIPT)
    engine.send_signal(signal.SIGINT)
    text, _ = engine.communicate(timeout=60)
    assert engine.returncode != 0
    assert "cancelled: running" in text
    assert (project.directory / "put-back").exists()
    assert not project.end_all(grace=5)
    assert project.resource("long") is None


def test_a_command_that_does_not_listen_is_killed(project: Project) -> None:
    engine = _started(project, _DEAF)
    engine.send_signal(signal.SIGINT)
    engine.communicate(timeout=60)
    assert engine.returncode != 0
    assert not project.end_all(grace=5)


def test_the_command_ends_when_the_engine_is_killed(project: Project) -> None:
    engine = _started(project, _SCRIPT)
    engine.kill()
    engine.wait()
    assert not project.end_all(grace=10)
    assert (project.directory / "put-back").exists()
    # The stack can be worked on again.
    project.pulumi("cancel", "--yes", "--stack", project.stack)
    project.refresh("--clear-pending-creates")
    project.up(fails=False, env={"SCRIPT": "true"})


def test_what_a_finished_command_left_running_stays(project: Project) -> None:
    project.write(
        "from pulumi_command import local\nlocal.Command('a', create='sleep 600 >/dev/null 2>&1 & echo $!')\n"
    )
    project.up()
    state = project.resource("a")
    assert state
    background = int(state["outputs"]["stdout"])
    assert (Path("/proc") / str(background)).exists()
    assert background in project.end_all(grace=0)


def _started(project: Project, script: str) -> subprocess.Popen[str]:
    project.write("import os\nfrom pulumi_command import local\nlocal.Command('long', create=os.environ['SCRIPT'])\n")
    engine = project.start("up", "--yes", "--skip-preview", env={"SCRIPT": script})
    wait_for(project.directory / "started", engine)
    return engine
