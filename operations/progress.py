"""Lines that `pulumi up` shows while a command runs."""

import sys
import time
from collections.abc import Callable

from operations.problem import Problem


def say(text: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def wait(look: Callable[[], str | None], seconds: float, hint: str, pause: float = 0.3) -> None:
    """Until `look` has nothing more to wait for. What it still waits for is said whenever it changes."""
    deadline = time.monotonic() + seconds
    said = None
    while (missing := look()) is not None:
        if missing != said:
            say(f"waiting for {missing}")
            said = missing
        if time.monotonic() > deadline:
            raise Problem(f"waited {seconds:.0f} s for {missing}.\n{hint}")
        time.sleep(pause)
