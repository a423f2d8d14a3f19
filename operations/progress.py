"""Lines that `pulumi up` shows while a command runs."""

import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

from operations.problem import Abandoned, Cancelled, Problem

_PARENT = os.getppid()


def say(text: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def wait(look: Callable[[], str | None], seconds: float, hint: str, pause: float = 0.3) -> None:
    """Until `look` has nothing more to wait for. What it still waits for is said whenever it changes."""
    deadline = time.monotonic() + seconds
    until = (
        "" if seconds == float("inf") else f" until {time.strftime('%H:%M:%S', time.localtime(time.time() + seconds))}"
    )
    said = None
    while (missing := look()) is not None:
        if missing != said:
            say(f"waiting{until} for {missing}")
            said = missing
        if time.monotonic() > deadline:
            raise Problem(f"waited {seconds:.0f} s for {missing}.\n{hint}".rstrip())
        if os.getppid() != _PARENT:
            raise Abandoned("whoever started this is gone: the next `pulumi up` goes on from here.")
        time.sleep(pause)


def end_on_signals() -> None:
    """A cancelled update ends as a failed one does: with what it did put back, and a word about it."""

    def leave(number: int, _: FrameType | None) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)  # a second one must not disturb the putting back
        raise Cancelled(f"cancelled ({signal.Signals(number).name})")

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, leave)
