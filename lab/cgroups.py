"""Control groups: each node's pods below a group of their own, so that kubelets do not clean up after each other."""

import time
from pathlib import Path

from lab.problem import Problem

ROOT = Path("/sys/fs/cgroup")
LEAVE_SECONDS = 10.0  # killed processes leave their groups a moment after they are gone


def make(path: str) -> None:
    """The group `path` in every hierarchy, with every controller."""
    for hierarchy in _hierarchies():
        (hierarchy / path).mkdir(parents=True, exist_ok=True)
    if _unified():
        for group in reversed(Path(path).parents):
            controllers = (ROOT / group / "cgroup.controllers").read_text().split()
            try:
                (ROOT / group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))
            except OSError as error:
                raise Problem(
                    f"{ROOT / group} cannot hand its controllers on ({error.strerror}).\n"
                    "  In a container, start it with a cgroup namespace of its own and no process in the root group."
                ) from error


def remove(path: str) -> None:
    """The group `path` and all below it, which must have no processes any more."""
    deadline = time.monotonic() + LEAVE_SECONDS
    for hierarchy in _hierarchies():
        while not _removed(hierarchy / path):
            if time.monotonic() > deadline:
                raise Problem(
                    f"{hierarchy / path} is still in use {LEAVE_SECONDS:.0f} s after its processes were killed."
                )
            time.sleep(0.05)


def _removed(folder: Path) -> bool:
    try:
        for inner in sorted(folder.rglob("*/"), key=lambda path: len(path.parts), reverse=True):
            inner.rmdir()
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _unified() -> bool:
    """Whether this is cgroup v2, with one hierarchy for all controllers."""
    return (ROOT / "cgroup.controllers").exists()


def _hierarchies() -> list[Path]:
    if _unified():
        return [ROOT]
    return [entry for entry in ROOT.iterdir() if entry.is_dir() and not entry.is_symlink()]
