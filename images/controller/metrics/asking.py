"""Questions to slurmctld: its commands, and its pages."""

import signal
import socket
import subprocess
from collections.abc import Iterator

SLURMCTLD = ("127.0.0.1", 6817)
SECONDS = 4.0  # for each question: Prometheus gives up after ten
READY_SECONDS = 2.0


class Unanswered(Exception):  # noqa: N818 -- it is what happened
    """Something that could not be found out."""


def run(*command: str) -> Iterator[str]:
    """The lines that a command prints, as they come: of ten thousand nodes they are ten megabytes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout  # noqa: S101 -- asked for above
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            yield from process.stdout
            code = process.wait()
        except TimeoutError:
            raise Unanswered(f"{' '.join(command)} does not answer") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            process.kill()  # if it has not ended by itself
    if code:
        raise Unanswered(f"{' '.join(command)} failed")


def ask(path: str, seconds: float = SECONDS) -> Iterator[bytes]:
    """The body of what slurmctld answers, piece by piece."""
    with socket.create_connection(SLURMCTLD, seconds) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: slurmctld\r\nConnection: close\r\n\r\n".encode())
        with connection.makefile("rb") as answer:
            status = answer.readline().split()
            if len(status) < 2 or status[1] not in (b"200", b"204"):
                raise Unanswered(f"slurmctld answers {path} with {b' '.join(status).decode()}")
            left = 0
            while header := answer.readline().strip():
                if header.lower().startswith(b"content-length:"):
                    left = int(header.partition(b":")[2])
            # Not to the end: slurmctld says once more that it closes the connection.
            while piece := answer.read(min(left, 65536)):
                left -= len(piece)
                yield piece


def is_up() -> bool:
    try:
        for _ in ask("/readyz", READY_SECONDS):
            pass
    except (OSError, Unanswered):
        return False
    return True


def late(*_: object) -> None:
    raise TimeoutError
