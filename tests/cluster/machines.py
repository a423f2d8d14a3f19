"""Kubernetes nodes that lose their power, and get it back."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from lab import paths
from tests.cluster.stacks import Stack


@contextmanager
def without_power(stack: Stack, node: str) -> Iterator[None]:
    """Everything that runs on the node ends at once, and nobody is told."""
    switch(stack, "stop", node)
    try:
        yield
    finally:
        switch(stack, "start", node)


def switch(stack: Stack, action: str, node: str) -> None:
    argv = [str(paths.CHECKOUT / ".venv" / "bin" / "lab"), "--name", stack.lab.name, "node", action, node]
    subprocess.run(argv, check=True, capture_output=True)
