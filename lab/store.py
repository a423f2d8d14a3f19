"""Images unpacked once for all labs: a containerd root in the cache, as which the root of each new node begins.

To import an image means to hash it, to copy it and to unpack it file by file, and each node of each lab would do so
again. Here it is done once. A new node gets copies of containerd's databases, hard links to the layers' archives and
symbolic links to the unpacked layers. These are only ever read, below the overlay mounts of pods, and what a node
removes is its link."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab import debian, layout, paths
from lab.images import Image
from lab.locks import only_one
from lab.problem import Problem
from lab.progress import step
from lab.run import run

START_SECONDS = 30.0
BLOBS = "io.containerd.content.v1.content/blobs/sha256"
LAYERS = "io.containerd.snapshotter.v1.overlayfs/snapshots"
DATABASES = ("io.containerd.metadata.v1.bolt/meta.db", "io.containerd.snapshotter.v1.overlayfs/metadata.db")


def add(images: list[Image]) -> None:
    """Unpack the images that are not there yet."""
    with _alone():
        missing = [image for image in images if not _mark(image).exists()]
        if not missing:
            return
        with step("images: unpacking") as doing, _containerd() as ctr:
            for number, image in enumerate(missing, 1):
                doing.detail = f"{image.name}, {number} of {len(missing)}"
                run([*ctr, "images", "import", image.archive])
                _mark(image).parent.mkdir(exist_ok=True)
                _mark(image).write_text(image.reference)


def seed(root: Path) -> None:
    """Let a node's containerd begin with all that is here, unless it has begun already."""
    with _alone():
        if root.exists() or not _root().exists():
            return
        part = root.with_name(root.name + ".part")
        shutil.rmtree(part, ignore_errors=True)  # of a start that was cut short
        for folder in (BLOBS, LAYERS, *(Path(database).parent for database in DATABASES)):
            (part / folder).mkdir(parents=True, exist_ok=True)
        for database in DATABASES:
            shutil.copy2(_root() / database, part / database)
        for blob in (_root() / BLOBS).iterdir():
            os.link(blob, part / BLOBS / blob.name)
        for layer in (_root() / LAYERS).iterdir():
            (part / LAYERS / layer.name).symlink_to(layer)
        part.rename(root)


def forget() -> None:
    """Remove the images that have no archive any more, when no node can have links to them."""
    with _alone():
        shutil.rmtree(_scratch(), ignore_errors=True)  # of one that was killed
        archives = {archive.name for archive in paths.images().glob("*.tar")}
        stale = [mark for mark in (_root() / "have").glob("*") if mark.name not in archives]
        if not stale or layout.everyone():
            return
        with _containerd() as ctr:
            run([*ctr, "images", "rm", "--sync", *(mark.read_text() for mark in stale)])
        for mark in stale:
            mark.unlink()


def _root() -> Path:
    return paths.cache() / "store"


def _alone():
    return only_one(paths.locks() / "store", "unpacking images")


def _mark(image: Image) -> Path:
    return _root() / "have" / image.archive.name


@contextmanager
def _containerd() -> Iterator[list[str | Path]]:
    """A containerd with this root, and the start of a command line that speaks to it. Its mounts end with it, and it
    ends with this process."""
    programs = debian.daemons() / "usr/bin"
    place = _scratch()
    shutil.rmtree(place, ignore_errors=True)  # of one that was killed
    place.mkdir()
    (place / "config.toml").write_text(
        f'version = 2\nroot = "{_root()}"\nstate = "{place}/state"\n'
        f'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\naddress = "{place}/socket"\n'
    )
    alone = ["unshare", "--mount", "setpriv", "--pdeathsig", "KILL", "--"]
    argv = [*alone, programs / "containerd", "--config", place / "config.toml"]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        ctr: list[str | Path] = [programs / "ctr", "--address", place / "socket", "--namespace", "k8s.io"]
        _wait(process, ctr, place / "log")
        yield ctr
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(place)


def _scratch() -> Path:
    """A folder for the socket, whose path must be short. Other caches on this machine have others."""
    return Path("/run") / f"slipway-store-{hashlib.sha256(str(_root()).encode()).hexdigest()[:8]}"


def _wait(process: subprocess.Popen[bytes], ctr: list[str | Path], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while subprocess.run([*ctr, "version"], capture_output=True).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise Problem(f"containerd did not start:\n{log.read_text()[-800:]}")
        time.sleep(0.05)
