"""The note on a merge request is written once a stack, and then anew."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

NOTE = Path(__file__).parents[2] / "docs" / "examples" / "gitlab_note.py"
MARKER = "<!-- slipway-report: dev -->"


class GitLab(BaseHTTPRequestHandler):
    """As much of its API as a note needs."""

    notes: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        page = int(self.path.rpartition("page=")[2])
        self._answer(self.notes[(page - 1) * 100 : page * 100])

    def do_POST(self) -> None:
        self.notes.append({"id": len(self.notes) + 1, **self._body()})
        self._answer(self.notes[-1])

    def do_PUT(self) -> None:
        note = self.notes[int(self.path.rpartition("/")[2]) - 1]
        note |= self._body()
        self._answer(note)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name that it has there
        """Nothing."""

    def _body(self) -> dict[str, str]:
        assert self.headers["PRIVATE-TOKEN"] == "token"
        assert self.path.startswith("/projects/7/merge_requests/3/notes")
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, found: Any) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())


@pytest.fixture
def gitlab() -> Iterator[dict[str, str]]:
    GitLab.notes.clear()
    with HTTPServer(("127.0.0.1", 0), GitLab) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        yield {
            "CI_API_V4_URL": address,
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "3",
            "REPORT_TOKEN": "token",
        }
        server.shutdown()


def write(gitlab: dict[str, str], tmp_path: Path, text: str) -> None:
    (tmp_path / "report.md").write_text(f"{MARKER}\n{text}\n")
    subprocess.run([sys.executable, NOTE, "dev", tmp_path / "report.md"], env=gitlab, check=True)


def test_the_second_report_takes_the_place_of_the_first(gitlab: dict[str, str], tmp_path: Path) -> None:
    GitLab.notes += [{"id": at, "body": f"a word, and {MARKER}"} for at in range(1, 151)]
    write(gitlab, tmp_path, "first")
    write(gitlab, tmp_path, "second")
    assert len(GitLab.notes) == 151
    assert GitLab.notes[-1]["body"] == f"{MARKER}\nsecond\n"
