"""The release before this one: its program in a folder of its own, and its images on the lab's nodes."""

import io
import subprocess
import tarfile
from pathlib import Path

from config.images import DEPLOYED
from lab import cluster, images, paths
from lab.layout import Lab

RECORD = Path(__file__).with_name("previous-release")


def commit() -> str:
    """Which commit that is: the one line of the record that is no comment."""
    [found] = [line for line in RECORD.read_text().split("\n") if line and not line.startswith("#")]
    return found


def unpack(folder: Path, clone: Path = paths.CHECKOUT) -> None:
    """Its files, from the history of a clone."""
    wanted = commit()
    done = subprocess.run(["git", "archive", wanted], cwd=clone, capture_output=True)
    assert done.returncode == 0, (
        f"These tests deploy the last release first, and its commit {wanted} is not in this clone: "
        f"{done.stderr.decode().strip()}\n"
        f"A shallow clone gets it by `git fetch --depth=1 origin {wanted}`, or all of the history by "
        f"`git fetch --unshallow`. Which commit it is stands in {RECORD.relative_to(paths.CHECKOUT)}."
    )
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def install(folder: Path) -> None:
    """The packages that it asks for, which need not be those of this one."""
    done = subprocess.run(["make", ".venv/ready"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def load_images(lab: Lab, folder: Path) -> dict[str, str]:
    """Onto the nodes, beside those of this release. The variables by which its program finds them."""
    builder = images.Builder()
    wanted = [each for each in images.ours(folder) if each.name in DEPLOYED]
    for image in wanted:
        builder.build(image)
    images.load(lab, wanted, cluster.ctr())
    return {image.variable: image.reference for image in wanted}
