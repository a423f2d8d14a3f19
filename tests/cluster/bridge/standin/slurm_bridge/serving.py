"""What the processes serve: probes, and admission over TLS."""

import json
import os
import ssl
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = Callable[[str, dict[str, Any]], dict[str, Any]]


def serve(port: int, answer: Answer | None = None, context: ssl.SSLContext | None = None) -> None:
    """GET is a probe; POST is answered with what `answer` makes of path and body."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200 if self.path in ("/healthz", "/readyz", "/livez") else 404, b"ok")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = answer(self.path.partition("?")[0], body) if answer else None
            self._send(200 if found else 404, json.dumps(found).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- its name in the library
            if self.command == "POST":
                print(format % args)

    server = ThreadingHTTPServer(("", port), Handler)
    if context:
        # The handshake is the thread's of the connection, so that a slow one keeps nobody else waiting.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def mounted(folder: Path) -> ssl.SSLContext:
    """The certificate of a Secret, read again for every connection: it may be a new one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def load(*_: object) -> None:
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")

    load()
    context.sni_callback = load
    return context


def made_up() -> ssl.SSLContext:
    """A certificate that nobody trusts, such as kube-scheduler makes for its probes, in memory: nothing is writable."""
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    made = subprocess.run([*argv, "-keyout", "-", "-out", "-"], check=True, capture_output=True).stdout
    memory = os.memfd_create("certificate")
    os.write(memory, made)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"/proc/self/fd/{memory}")
    return context
