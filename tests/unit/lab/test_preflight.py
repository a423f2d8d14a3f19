"""What is in the way is found, and what only looks like it is not."""

import socket
from pathlib import Path

import pytest

from lab import preflight

IPV6 = [
    (socket.AF_INET6, "::", True),
    (socket.AF_INET6, "::ffff:127.0.0.3", True),
    (socket.AF_INET6, "::1", False),
]


def has_ipv6() -> bool:
    """Whether loopback has an address of it. Where it has none, nothing can listen there."""
    addresses = Path("/proc/net/if_inet6")
    return addresses.exists() and any(line.split()[-1] == "lo" for line in addresses.read_text().splitlines())


@pytest.mark.parametrize(
    ("family", "bound", "in_the_way"),
    [
        (socket.AF_INET, "127.0.0.3", True),
        (socket.AF_INET, "0.0.0.0", True),  # noqa: S104 -- the port is closed again at once
        (socket.AF_INET, "127.0.0.4", False),
        *(IPV6 if has_ipv6() else []),
    ],
)
def test_a_port_is_taken_on_the_addresses_on_which_it_would_answer(
    family: socket.AddressFamily, bound: str, in_the_way: bool
) -> None:
    with socket.socket(family) as server:
        server.bind((bound, 0))
        server.listen()
        assert (server.getsockname()[1] in preflight.listening("127.0.0.3")) == in_the_way
