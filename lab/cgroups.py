"""Control groups: each node's pods below a group of their own, so that kubelets do not clean up after each other."""

import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
LEAVE_SECONDS = 10.0  # killed processes leave their groups a moment after they are gone


def make(path: str) -> None:
    """The group `path` in every hierarchy, with every controller."""
    for hierarchy in _hierarchies():
        (hierarchy / path).mkdir(parents=True, exist_ok=True)
    if _unified():
        for group in reversed(Path(path).parents):
            controllers = (ROOT / group / "cgroup.controllers").read_text().split()
            (ROOT / group / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))


def remove(path: str) -> None:
    """The group `path` and all below it, which must have no processes any more."""
    deadline = time.monotonic() + LEAVE_SECONDS
    for hierarchy in _hierarchies():
        while not _removed(hierarchy / path) and time.monotonic() < deadline:
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
