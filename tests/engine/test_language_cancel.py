"""Whatever happens to the engine, the program ends with it. The `project` fixture checks that nothing runs on."""

import os
import signal
import subprocess
import time
from pathlib import Path

from tests.engine.project import Project

# Starts a process of its own, as a program that calls kubectl would, and says when it is there.
_PROGRAM = """
import pathlib, subprocess, time
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("started").touch()
time.sleep(600)
"""


def test_ctrl_c_ends_the_program_and_the_update(project: Project) -> None:
    project.write(_PROGRAM)
    engine = _started(project, "up", "--yes", "--skip-preview")
    started = time.monotonic()
    engine.send_signal(signal.SIGINT)
    text, _ = engine.communicate(timeout=60)
    assert engine.returncode != 0
    assert "Traceback" not in text
    assert not project.end_all(grace=10)
    assert time.monotonic() - started < 30
    # The lock is gone too: the next one runs.
    project.write("import pulumi\n")
    project.up()


def test_the_program_ends_when_the_engine_is_killed(project: Project) -> None:
    project.write(_PROGRAM)
    engine = _started(project, "preview")
    engine.kill()
    engine.wait()
    assert not project.end_all(grace=10)


def test_the_program_ends_when_the_host_is_told_to(project: Project) -> None:
    project.write(_PROGRAM)
    engine = _started(project, "preview")
    [host] = [process for process, line in project.processes().items() if "lab.plugins.language" in line]
    os.kill(host, signal.SIGTERM)
    engine.communicate(timeout=60)
    assert engine.returncode != 0
    assert not project.end_all(grace=10)


def _started(project: Project, *args: str) -> subprocess.Popen[str]:
    engine = project.start(*args)
    wait_for(project.directory / "started", engine)
    return engine


def wait_for(path: Path, engine: subprocess.Popen[str]) -> None:
    """Wait until the program under test has made the file `path`."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert engine.poll() is None, engine.communicate()[0]
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.05)
