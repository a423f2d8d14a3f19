"""What is in the way is found, and what only looks like it is not."""

import socket

import pytest

from lab import preflight


@pytest.mark.parametrize(
    ("family", "bound", "in_the_way"),
    [
        (socket.AF_INET, "127.0.0.3", True),
        (socket.AF_INET, "0.0.0.0", True),  # noqa: S104 -- the port is closed again at once
        (socket.AF_INET6, "::", True),
        (socket.AF_INET6, "::ffff:127.0.0.3", True),
        (socket.AF_INET, "127.0.0.4", False),
        (socket.AF_INET6, "::1", False),
    ],
)
def test_a_port_is_taken_on_the_addresses_on_which_it_would_answer(
    family: socket.AddressFamily, bound: str, in_the_way: bool
) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((bound, 0))
        except OSError as error:
            pytest.skip(f"this machine cannot bind {bound}: {error}")
        server.listen()
        assert (server.getsockname()[1] in preflight.listening("127.0.0.3")) == in_the_way
