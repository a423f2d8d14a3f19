"""What slurmctld runs for a mail: it reaches a server that speaks SMTP, or the administrator's program."""

import socketserver
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.pki import Authority

SCRIPT = Path(__file__).parents[3] / "images" / "controller" / "mail"


class Server(socketserver.TCPServer):
    """Takes any mail, and keeps what it was told."""

    allow_reuse_address = True
    heard: list[str]
    refuses = False
    tls: ssl.SSLContext | None = None
    from_the_first_byte = False


class Session(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        if self._server.from_the_first_byte and not self._secured():
            return
        self._say("220 here")
        while (word := self._hear()[:4].upper()) not in ("QUIT", ""):
            if word == "EHLO" and self._server.tls and not self._server.from_the_first_byte:
                self._say("250-here")
                self._say("250 STARTTLS")
                continue
            if word == "STAR":
                self._say("220 go on")
                if not self._secured():
                    return
                continue
            if word == "DATA":
                self._say("354 go on")
                while self._hear() != ".":
                    pass
            self._say("550 unknown" if word == "RCPT" and self._server.refuses else "250 fine")
        self._say("221 bye")

    @property
    def _server(self) -> Server:
        assert isinstance(self.server, Server)
        return self.server

    def _secured(self) -> bool:
        assert self._server.tls
        try:
            self.request = self._server.tls.wrap_socket(self.request, server_side=True)
        except OSError:  # who calls does not trust the certificate
            return False
        self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", buffering=0)
        self._server.heard.append("(secured)")
        return True

    def _hear(self) -> str:
        line = self.rfile.readline().decode().rstrip("\r\n")
        self._server.heard.append(line)
        return line

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Session) as made:
        made.heard = []
        threading.Thread(target=made.serve_forever, args=[0.01], daemon=True).start()
        yield made
        made.shutdown()


def send(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "SLURM_ETC": str(folder), "MAIL_LOG": str(folder / "log"), **more}
    return subprocess.run([SCRIPT, *words], env=env, capture_output=True, text=True)


def configure(folder: Path, server: Server, tls: str = "none") -> None:
    port = server.server_address[1]
    (folder / "mail.conf").write_text(f"# words\nhost=127.0.0.1\nport={port}\ntls={tls}\nsender=slurm@example.com\n")


def test_a_mail_reaches_all_that_it_is_for(tmp_path: Path, server: Server) -> None:
    configure(tmp_path, server)
    done = send(tmp_path, "-s", "Slurm Job_id=7 Name=a Ended", "alice@example.com,bob")
    assert done.returncode == 0, done.stderr
    assert "MAIL FROM:<slurm@example.com>" in " ".join(server.heard)
    assert [line for line in server.heard if line.startswith("RCPT")] == [
        "RCPT TO:<alice@example.com>",
        "RCPT TO:<bob>",
    ]
    assert {"From: slurm@example.com", "To: alice@example.com,bob", "Subject: Slurm Job_id=7 Name=a Ended"} <= set(
        server.heard
    )


def test_a_job_name_cannot_add_headers_or_recipients(tmp_path: Path, server: Server) -> None:
    configure(tmp_path, server)
    send(tmp_path, "-s", "Name=x\r\nBcc: all@example.com\r\n\r\nbody", "alice@example.com\r\nRCPT TO:<eve@example.com>")
    assert not [line for line in server.heard if line.startswith("Bcc")]
    assert len([line for line in server.heard if line.startswith("RCPT")]) == 1


def test_a_refusal_is_told_in_the_containers_log(tmp_path: Path, server: Server) -> None:
    configure(tmp_path, server)
    server.refuses = True
    done = send(tmp_path, "-s", "x", "nobody@example.com")
    assert done.returncode != 0
    said = (tmp_path / "log").read_text()
    assert said.startswith('mail: "x" was not sent to nobody@example.com: ')
    assert "550" in said


@pytest.mark.parametrize("tls", ["tls", "starttls"])
def test_a_mail_goes_through_tls_to_a_server_that_is_trusted_and_to_no_other(
    tmp_path: Path, server: Server, tls: str
) -> None:
    authority = Authority(tmp_path)
    server.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.tls.load_cert_chain(*authority.issue("mail", "mail", hosts=["127.0.0.1"]))
    server.from_the_first_byte = tls == "tls"
    configure(tmp_path, server, tls)
    words = ("-s", "x", "alice@example.com")
    assert send(tmp_path, *words).returncode != 0
    assert "certificate" in (tmp_path / "log").read_text()
    done = send(tmp_path, *words, CURL_CA_BUNDLE=str(authority.certificate))
    assert done.returncode == 0, (tmp_path / "log").read_text()
    secured = server.heard.index("(secured)")
    assert [place for place, line in enumerate(server.heard) if line.startswith("RCPT") and place > secured]
    assert not [line for line in server.heard[:secured] if line.startswith(("MAIL", "RCPT"))]


def test_no_mail_goes_in_the_clear_where_starttls_is_asked_for(tmp_path: Path, server: Server) -> None:
    configure(tmp_path, server, "starttls")
    assert send(tmp_path, "-s", "x", "alice@example.com").returncode != 0
    assert not [line for line in server.heard if line.startswith(("MAIL", "RCPT"))]


def test_a_program_gets_what_slurm_says(tmp_path: Path) -> None:
    (tmp_path / "mail-program").write_text(f'#!/bin/sh -u\necho "$-|$1|$2|$3" > {tmp_path}/seen\n')
    assert send(tmp_path, "-s", "Job ended", "alice").returncode == 0
    options, *words = (tmp_path / "seen").read_text().strip().split("|")
    assert "u" in options
    assert words == ["-s", "Job ended", "alice"]
