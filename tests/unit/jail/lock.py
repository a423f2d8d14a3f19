"""The lock that one run in the shared root has at a time."""

import fcntl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEADLINE = 20.0


@contextmanager
def held(jail: Path) -> Iterator[Path]:
    """As another run would hold it."""
    (jail / ".slipway").mkdir(exist_ok=True)
    with (jail / ".slipway" / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield Path(file.name)


def someone_waits(file: Path, run: subprocess.Popen[str]) -> None:
    """Returns as soon as the kernel says that somebody waits for the lock."""
    inode = f":{file.stat().st_ino}"
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        assert run.poll() is None, "the run did not wait for the lock"
        for line in Path("/proc/locks").read_text().splitlines():
            if "->" in line and any(word.endswith(inode) for word in line.split()):
                return
        time.sleep(0.01)
    raise AssertionError(f"nobody asked for the lock within {DEADLINE:.0f} s")
