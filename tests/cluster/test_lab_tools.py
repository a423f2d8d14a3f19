"""Getting the tools: from a download that works, one that does not, a build that is killed, a machine without Go."""

import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from lab import debian, golang, pulumi
from lab.problem import Problem

Kubectl = Callable[..., str]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@contextmanager
def site(content: bytes) -> Iterator[str]:
    """A download site on loopback that has one file."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def archive() -> bytes:
    """What the official archive looks like, around a program that only tells its version."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name in ("pulumi", "pulumi-language-python"):
            content = b"#!/bin/sh\necho v0.0.0-official\n"
            entry = tarfile.TarInfo(f"pulumi/{name}")
            entry.size, entry.mode = len(content), 0o755
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def without_pulumi(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "pulumi").exists()]
    monkeypatch.setenv("PATH", ":".join(folders))


def test_the_official_download_is_taken_where_it_answers_and_only_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pulumi(monkeypatch)
    with site(archive()) as address:
        monkeypatch.setenv("SLIPWAY_PULUMI_DOWNLOADS", address)
        first = pulumi.choose()
    assert first.origin == "downloaded"
    assert first.has("language", "python")
    assert subprocess.run([first.program], capture_output=True, text=True).stdout == "v0.0.0-official\n"
    assert pulumi.choose() == first  # the site is gone by now


def test_a_broken_download_leaves_nothing_and_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pulumi(monkeypatch)
    for content in (b"", b"not an archive", archive()[:80]):
        with site(content) as address:
            monkeypatch.setenv("SLIPWAY_PULUMI_DOWNLOADS", address)
            assert not pulumi.download()
        assert [path.name for path in (cache / "tools").glob("pulumi*")] == []


def test_a_build_that_is_killed_is_finished_by_the_next_one(cache: Path) -> None:
    build = [sys.executable, "-c", "from lab import golang; golang.build(golang.COREDNS)"]
    process = subprocess.Popen(build, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (cache / "tools" / ".coredns").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not golang.COREDNS.built
    golang.build(golang.COREDNS)
    made = golang.COREDNS.binary.stat().st_mtime_ns
    assert (
        golang.COREDNS.version.lstrip("v")
        in subprocess.run([golang.COREDNS.binary, "-version"], capture_output=True, text=True).stdout
    )
    golang.build(golang.COREDNS)
    assert golang.COREDNS.binary.stat().st_mtime_ns == made


def test_without_go_and_without_its_wheel_the_way_out_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    basic = cache / "bin"
    basic.mkdir(parents=True)
    (basic / "uv").symlink_to(shutil.which("false") or "/bin/false")
    monkeypatch.setenv("PATH", str(basic))
    monkeypatch.delenv("UV", raising=False)
    with pytest.raises(Problem, match=r"Install Go 1\.25 or newer"):
        golang.check()


def test_a_cluster_that_runs_already_can_be_used_and_is_left_as_it_was(kubectl: Kubectl) -> None:
    context = kubectl("config", "current-context").strip()
    adopted = [sys.executable, "-m", "lab.cli", "--name", "adopted"]
    up = subprocess.run([*adopted, "up", "--context", context], capture_output=True, text=True, timeout=300)
    try:
        assert up.returncode == 0, up.stdout + up.stderr
        assert "login-0" in kubectl("get", "pods", "-n", "slurm")
        other = subprocess.run([*adopted, "up"], capture_output=True, text=True, timeout=300)
        assert other.returncode == 1
        assert "Take it down first" in other.stderr
    finally:
        down = subprocess.run([*adopted, "down"], capture_output=True, text=True, timeout=300)
    assert down.returncode == 0, down.stderr
    assert "slurm" not in kubectl("get", "namespaces")
    assert "compute-0" in kubectl("get", "nodes")


def test_a_missing_package_is_named_where_apt_cannot_be_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"no-such-tool": "no-such-package"}
    script = f"from lab import debian; debian.check({wanted!r})"
    refused = subprocess.run(
        ["unshare", "--user", sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert "As root: apt-get install no-such-package" in refused.stderr
    monkeypatch.setenv("PATH", str(cache))
    with pytest.raises(Problem, match=r"has no apt, and these are missing: no-such-package"):
        debian.check(wanted)
