"""How a plugin process starts and ends, without an engine: it is started as the engine starts it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.plugins.install import install

_WITHIN = 4.0  # the engine kills after five seconds


@pytest.fixture(params=["language", "command"])
def plugin(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", f"lab.plugins.{request.param}", "--logtostderr", "-v=9", "127.0.0.1:1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    yield process
    process.kill()
    process.wait()


def _port(plugin: subprocess.Popen[str]) -> int:
    assert plugin.stdout
    return int(plugin.stdout.readline())


def test_the_first_line_is_the_port(plugin: subprocess.Popen[str]) -> None:
    assert 0 < _port(plugin) < 65536


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_group_ends_it_in_time(plugin: subprocess.Popen[str], number: signal.Signals) -> None:
    _port(plugin)
    os.killpg(plugin.pid, number)
    assert plugin.wait(_WITHIN) == 0


def test_it_ends_when_the_engine_is_gone(plugin: subprocess.Popen[str]) -> None:
    _port(plugin)
    assert plugin.stdin
    plugin.stdin.close()
    assert plugin.wait(_WITHIN) == 0


def test_the_sdk_is_not_loaded_to_start_a_plugin() -> None:
    modules = "lab.plugins.command.__main__, lab.plugins.language.__main__"
    code = f"import sys, {modules}; print('pulumi.resource' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_installing_twice_changes_nothing_and_heals_what_was_changed(tmp_path: Path) -> None:
    install(tmp_path, Path("/opt/a python/bin/python"))
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.name for path in files] == [
        "pulumi-language-python",
        "pulumi-resource-command",
        "pulumi-resource-kubernetes",
    ]
    assert files[0].read_text() == "#!/bin/sh\nexec '/opt/a python/bin/python' -I -m lab.plugins.language \"$@\"\n"
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in files]
    install(tmp_path, Path("/opt/a python/bin/python"))
    assert [(path.stat().st_ino, path.stat().st_mtime_ns) for path in files] == before
    files[1].write_text("half a fi")
    files[2].chmod(0o644)
    install(tmp_path, Path("/opt/a python/bin/python"))
    assert files[1].read_text().startswith("#!/bin/sh\nexec ")
    assert os.access(files[2], os.X_OK)
    assert len(list(tmp_path.rglob("*"))) == 1 + 3 + 3
