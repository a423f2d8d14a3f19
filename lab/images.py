"""Container images: built from their Containerfiles when these change, kept as archives, loaded into nodes."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lab import machine, paths
from lab.layout import ROLES, Lab, Node
from lab.locks import only_one
from lab.progress import step
from lab.run import run

BASE = "docker.io/library/debian:forky-slim"
SUITE = "forky"
# A frozen mirror's index may be past its date. What it holds is signed all the same.
STALE_INDEX = 'Acquire::Check-Valid-Until "false"'
PULL_SECONDS = 60
KEEP_SECONDS = 14 * 86400
KEEP_VERSIONS = 3  # of each image: an archive is large, and made again within seconds
IGNORED = {".md", ".pyc"}  # as in images/.dockerignore
USED_ON = {"jail": frozenset({"system"})}  # it is large, and only one Job takes from it


@dataclass(frozen=True)
class Image:
    """An image whose tag is a digest of all that goes into it, so that a changed image has another name."""

    name: str
    containerfile: Path
    context: Path
    tag: str
    roles: frozenset[str] = ROLES  # of the nodes that run it

    @property
    def reference(self) -> str:
        return f"localhost/slipway/{self.name}:{self.tag}"

    @property
    def variable(self) -> str:
        """By which the stacks of a lab find it."""
        return f"SLIPWAY_{self.name.upper()}_IMAGE"

    @property
    def archive(self) -> Path:
        return paths.images() / f"{self.name}-{self.tag}.tar"


def ours(checkout: Path | None = None) -> list[Image]:
    """The product's images, one for each folder of `images/` with a Containerfile. They share `images/` as their
    context, so that they can all copy from its folder `common`. Another checkout's are of another version."""
    context = (checkout or paths.CHECKOUT) / "images"
    return [_image(context, file) for file in sorted(context.glob("*/Containerfile"))]


def _image(context: Path, containerfile: Path) -> Image:
    own = containerfile.parent
    shared = [context / "common"] if "common/" in containerfile.read_text() else []
    roles = USED_ON.get(own.name, ROLES - {"control-plane"})
    return Image(own.name, containerfile, context, digest(own, *shared), roles)


def digest(*folders: Path) -> str:
    """Names, modes and contents of all files below the folders that can come into an image."""
    seen = hashlib.sha256()
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in IGNORED):
            executable = file.stat().st_mode & 0o100
            seen.update(f"{file.relative_to(folder.parent)}\0{executable}\0".encode() + file.read_bytes())
    return seen.hexdigest()[:12]


class Builder:
    """docker or podman where one works, else buildah."""

    def __init__(self) -> None:
        self.program = next((name for name in ("docker", "podman") if _answers(name)), "buildah")

    @property
    def needs_buildah(self) -> bool:
        return self.program == "buildah"

    def _argv(self, *words: str | Path) -> list[str | Path]:
        if not self.needs_buildah:
            return [self.program, *words]
        store = paths.cache() / "buildah"
        # In a mount namespace of its own, so that a build cut short leaves no mount behind.
        return ["unshare", "--mount", "buildah", "--root", store / "root", "--runroot", store / "run", *words]

    def build(self, image: Image) -> None:
        """Make the image's archive, if it is not there yet."""
        if image.archive.exists():
            return
        with only_one(paths.locks() / "images", "building images"):
            if image.archive.exists():
                return
            if BASE in image.containerfile.read_text():
                self._base()
            with step(f"image {image.name}: building with {self.program}") as doing:
                self._build(image, doing.tell)
            forget_old(image.name)

    def _build(self, image: Image, on_line: Callable[[str], None]) -> None:
        part = image.archive.with_suffix(".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        words = ["build", "-f", image.containerfile, "-t", image.reference, "--build-arg", f"APT_OPTION={STALE_INDEX}"]
        if self.needs_buildah:
            words[1:1] = ["--isolation", "chroot", "--network", "host", "--pull-never", "--layers"]
        run(self._argv(*words, image.context), on_line=on_line)
        if self.needs_buildah:
            run(self._argv("push", "-q", image.reference, f"docker-archive:{part}:{image.reference}"))
        else:
            run(self._argv("save", "-o", part, image.reference))
        part.rename(image.archive)

    def _base(self) -> None:
        """Debian's image from its registry where that answers, else one made from Debian packages."""
        inspect = ["inspect", "--type", "image"] if self.needs_buildah else ["image", "inspect"]
        if self._succeeds(*inspect, BASE):
            return
        with step(f"base image {BASE}") as doing:
            doing.detail = "pulling"
            if self._succeeds("pull", BASE):
                return
            doing.detail = "no registry answers: making it from Debian packages"
            scratch = paths.images() / ".base"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            options = ["--variant=minbase", "--aptopt=" + STALE_INDEX, "--dpkgopt=path-exclude=/usr/share/man/*"]
            way_out = f"Install mmdebstrap, or give the machine a registry that has {BASE}."
            run(["mmdebstrap", *options, SUITE, scratch / "root.tar"], on_line=doing.tell, way_out=way_out)
            (scratch / "Containerfile").write_text('FROM scratch\nADD root.tar /\nCMD ["bash"]\n')
            extra = ["--isolation", "chroot"] if self.needs_buildah else []
            run(self._argv("build", *extra, "-t", BASE, scratch))
            shutil.rmtree(scratch)

    def _succeeds(self, *words: str) -> bool:
        try:
            return subprocess.run(self._argv(*words), capture_output=True, timeout=PULL_SECONDS).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def _answers(program: str) -> bool:
    """Whether the program is there and so is the engine behind it."""
    return bool(shutil.which(program)) and subprocess.run([program, "info"], capture_output=True).returncode == 0


def forget_old(name: str) -> None:
    """Remove older versions of that image, and archives of any that nobody has asked for in a while."""

    def used(archive: Path) -> float:
        return archive.stat().st_mtime

    versions = sorted(paths.images().glob(f"{name}-*.tar"), key=used, reverse=True)
    unused = [archive for archive in paths.images().glob("*.tar") if time.time() - used(archive) > KEEP_SECONDS]
    for archive in {*versions[KEEP_VERSIONS:], *unused}:
        archive.unlink(missing_ok=True)


def load(lab: Lab, images: list[Image], ctr: Path) -> None:
    """Put the images into the nodes that run, use them, and do not have them."""

    def into(node: Node) -> None:
        here = [*machine.enter(lab, node), str(ctr), "--namespace", "k8s.io", "images"]
        present = set(run([*here, "ls", "-q"]).split())
        for image in images:
            os.utime(image.archive)  # still in use
            if node.role in image.roles and image.reference not in present:
                run([*here, "import", str(image.archive)])

    nodes = [node for node in lab.nodes if machine.process(lab, node)]
    with step(f"loading {len(images)} images into nodes", quiet_below=1.0), ThreadPoolExecutor() as pool:
        list(pool.map(into, nodes))
