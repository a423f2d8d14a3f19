"""Progress for people: each long step says that it began, that it is still alive, and how long it took."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

HEARTBEAT_SECONDS = 20.0  # on a log, often enough to see that it lives and rarely enough to read


class Step:
    """A step under way. `detail` may be set from the work itself, and is shown behind the elapsed time."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.detail = ""
        self._started = time.monotonic()
        self._over = threading.Event()
        self._terminal = sys.stderr.isatty()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def tell(self, detail: str) -> None:
        self.detail = detail[:70]

    def _line(self, sign: str) -> str:
        detail = f"  {self.detail}" if self.detail and sign != "✓" else ""
        return f"{sign} {self.title}  {elapsed(self.seconds)}{detail}"

    def _show(self, line: str, *, passing: bool = False) -> None:
        if self._terminal:
            line = "\r\x1b[K" + line[:110] if passing else "\r\x1b[K" + line + "\n"
        else:
            line += "\n"
        sys.stderr.write(line)
        sys.stderr.flush()

    def _beat(self) -> None:
        pause = 0.2 if self._terminal else HEARTBEAT_SECONDS
        while not self._over.wait(pause):
            self._show(self._line("…"), passing=True)


@contextmanager
def step(title: str, *, quiet_below: float = 0.0) -> Iterator[Step]:
    """Show `title` while the block runs. A step that ends within `quiet_below` seconds leaves no line."""
    doing = Step(title)
    beat = threading.Thread(target=doing._beat, daemon=True)
    beat.start()
    sign = "✗"
    try:
        yield doing
        sign = "✓"
    finally:
        doing._over.set()
        beat.join()
        if sign == "✗" or doing.seconds >= quiet_below:
            doing._show(doing._line(sign))
        elif doing._terminal:
            doing._show("", passing=True)


def say(line: str) -> None:
    """A line of its own, beside the steps."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def elapsed(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
