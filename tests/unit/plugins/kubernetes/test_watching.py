"""List and watch against a server that behaves badly: it forgets versions, ends streams and closes connections."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from lab.plugins.kubernetes.client import ApiError, Client, Unreachable
from lab.plugins.kubernetes.kubeconfig import Access
from lab.plugins.kubernetes.objects import name_of
from lab.plugins.kubernetes.watching import Cancellation, Feed


def _thing(name: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": name, "resourceVersion": str(version)}}


class _Server(ThreadingHTTPServer):
    """Answers lists from `lists` and watches from `watches`, in turn; each watch is a list of events, or a status."""

    daemon_threads = True

    def __init__(self, lists: list[Any], watches: list[Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lists, self.watches = lists, watches
        self.asked: list[str] = []
        self.closing = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        query = parse_qs(urlparse(self.path).query)
        if "watch" not in query:
            self.server.asked.append("list")
            self._whole(self.server.lists.pop(0))
            return
        self.server.asked.append(f"watch from {query['resourceVersion'][0]}")
        answer = self.server.watches.pop(0) if self.server.watches else "silence"
        if isinstance(answer, int):
            self._whole(answer)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if answer == "silence":
            self.wfile.flush()
            self.server.closing.wait(20)
            return
        for event in answer:
            if event == "cut":
                self.close_connection = True
                return
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def _whole(self, answer: Any) -> None:
        body = json.dumps({"message": f"status {answer}"} if isinstance(answer, int) else answer).encode()
        self.send_response(answer if isinstance(answer, int) else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., _Server]]:
    servers: list[_Server] = []

    def start(lists: list[Any], watches: list[Any]) -> _Server:
        server = _Server(lists, watches)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.closing.set()
        server.shutdown()
        server.server_close()


def _list(version: int, *things: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "ThingList", "apiVersion": "v1", "metadata": {"resourceVersion": str(version)}, "items": things}


def _wait(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_watch_goes_on_where_it_ended_and_lists_again_when_the_version_is_gone(serve: Callable[..., _Server]) -> None:
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5"}}}
    server = serve(
        [_list(1, _thing("a", 1)), _list(9, _thing("c", 9))],
        [
            [{"type": "ADDED", "object": _thing("b", 2)}, bookmark],
            [{"type": "DELETED", "object": _thing("a", 6)}, {"type": "ERROR", "object": {"code": 410}}],
        ],
    )
    changes = threading.Event()
    with Feed(Client(Access(server.address)), "/things", changes.set) as feed:
        _wait(lambda: server.asked[-1:] == ["watch from 9"])
        assert [name_of(item) for item in feed.all()] == ["c"]
        assert feed.all()[0]["kind"] == "Thing"
        last = feed.last_deleted()
        assert last
        assert name_of(last) == "b", "it was gone when it was listed again"
    assert server.asked == ["list", "watch from 1", "watch from 5", "list", "watch from 9"]
    assert changes.is_set()


def test_a_lost_connection_and_a_busy_server_are_mended(serve: Callable[..., _Server]) -> None:
    server = serve(
        [_list(1), _list(3, _thing("a", 3)), _list(4, _thing("a", 4))],
        [[{"type": "ADDED", "object": _thing("b", 2)}, "cut"], 500, "silence"],
    )
    with Feed(Client(Access(server.address)), "/things", lambda: None) as feed:
        _wait(lambda: server.asked[-1:] == ["watch from 4"])
        assert [name_of(item) for item in feed.all()] == ["a"]
        assert feed.lost is None


def test_what_is_not_allowed_is_not_asked_again(serve: Callable[..., _Server]) -> None:
    server = serve([403], [])
    with Feed(Client(Access(server.address)), "/things", lambda: None) as feed:
        _wait(lambda: feed.refused)
        assert feed.refused
        assert feed.refused.status == 403
    assert server.asked == ["list"]


def test_a_silent_watch_ends_when_nobody_listens_any_more(serve: Callable[..., _Server]) -> None:
    server = serve([_list(1)], ["silence"])
    with Feed(Client(Access(server.address)), "/things", lambda: None):
        _wait(lambda: server.asked[-1:] == ["watch from 1"])
    _wait(lambda: not any(thread.name == "watch /things" for thread in threading.enumerate()))


def test_a_server_that_asks_for_patience_gets_it_and_errors_keep_its_words(serve: Callable[..., _Server]) -> None:
    server = serve([429, 503, _list(1), 422], [])
    client = Client(Access(server.address))
    assert client.get("/things")["kind"] == "ThingList"
    with pytest.raises(ApiError, match="status 422") as refused:
        client.get("/things")
    assert refused.value.status == 422


def test_silence_names_the_server() -> None:
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1 does not answer: connection refused"):
        Client(Access("http://127.0.0.1:1")).get("/things")


def test_cancelling_wakes_whoever_waits() -> None:
    cancellation, woken = Cancellation(), threading.Event()
    with cancellation.wakes(woken.set):
        threading.Timer(0.05, cancellation.cancel).start()
        assert woken.wait(5)
    assert cancellation.cancelled
    assert not cancellation.pause(60)
