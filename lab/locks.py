"""One at a time: whoever builds a tool or changes a lab holds a lock that the kernel releases when its process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.progress import step


@contextmanager
def only_one(path: Path, what: str) -> Iterator[None]:
    """Hold the lock at `path`; if another process has it, say which, and wait until it is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            with step(f"waiting for process {file.read().strip() or '?'}, which is at {what}"):
                fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield
