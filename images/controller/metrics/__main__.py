"""One page for Prometheus: all that slurmctld serves, and what it does not know of.

    python3 -IS metrics PORT [--accounting]

It runs beside slurmctld, as nobody; it reads, and changes nothing. It answers one question at a time, and remembers
little: what it tells was so a moment ago. What could not be found out is left out, and slipway_collector_success says
so: a number that is missing is no zero.
"""

import signal
import socket
import sys
from collections.abc import Iterator

from asking import SECONDS, Unanswered, ask, is_up, late
from exporter import FAMILIES, Exporter

PAGES = ("jobs", "nodes", "partitions", "scheduler", "jobs-users-accts")


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def page(exporter: Exporter) -> Iterator[bytes]:
    up = is_up()
    families: dict[str, list[str]] = {name: [] for name in FAMILIES}
    for name, labels, value in exporter.samples(up):
        told = ",".join(f'{key}="{escaped(text)}"' for key, text in labels.items())
        families[name].append(f"{name}{{{told}}} {float(value):.16g}\n" if told else f"{name} {float(value):.16g}\n")
    done = True
    for each in PAGES if up else ():
        try:
            if done:  # who does not answer one question is not asked the next
                yield from ask(f"/metrics/{each}")
        except (OSError, Unanswered) as problem:
            sys.stderr.write(f"metrics: slurmctld/{each}: {problem}\n")
            done = False
        families["slipway_collector_success"].append(
            f'slipway_collector_success{{collector="slurmctld/{each}"}} {int(done)}\n'
        )
    for name, lines in families.items():
        if lines:
            yield f"# HELP {name} {FAMILIES[name]}\n# TYPE {name} gauge\n{''.join(lines)}".encode()


def answer(connection: socket.socket, exporter: Exporter) -> None:
    with connection:
        connection.settimeout(SECONDS)
        # Whoever needs several packets to ask for a page keeps others waiting.
        method, path, *_ = [*connection.recv(65536).decode("latin-1").split(), "", ""]
        if method != "GET" or path.partition("?")[0] != "/metrics":
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return
        head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n"
        connection.sendall(head.encode())
        for piece in page(exporter):
            connection.sendall(piece)


def main(words: list[str]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGALRM, late)
    exporter = Exporter("--accounting" in words)
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    dual = family == socket.AF_INET6
    with socket.create_server(("", int(words[0])), family=family, dualstack_ipv6=dual) as listener:
        while True:
            connection, _ = listener.accept()
            try:
                answer(connection, exporter)
            except OSError as problem:  # whoever asked is gone
                sys.stderr.write(f"metrics: {problem}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
