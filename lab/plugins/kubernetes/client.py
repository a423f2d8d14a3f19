"""The Kubernetes REST API over one keep-alive session per server, safe for many threads."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from lab.plugins.kubernetes.credentials import Bearer, authentication, tls
from lab.plugins.kubernetes.kubeconfig import Access, KubeconfigError
from lab.plugins.kubernetes.objects import Object, dig

_CONNECT_TIMEOUT = 10.0  # TLS included, as Kubernetes' own clients have it
_READ_TIMEOUT = 60.0  # admission webhooks may take half of that
_CONNECTIONS = 64
_TRIES = 5
_BUSY = (429, 503, 504)

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"


class ApiError(Exception):
    """The API server's answer to a request that it did not fulfil, in its own words."""

    def __init__(self, status: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(status, reason, message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or {}

    def __str__(self) -> str:
        return self.message

    @property
    def not_found(self) -> bool:
        return self.status == 404

    @property
    def namespace_missing(self) -> bool:
        return self.not_found and self.details.get("kind") == "namespaces"


class Unreachable(Exception):  # noqa: N818  it is the cluster's state
    """No answer from the API server at all."""


class _Adapter(HTTPAdapter):
    """Pools connections with a TLS context of our own: `requests` itself would trust public authorities too."""

    def __init__(self, context: ssl.SSLContext, server_name: str | None) -> None:
        self._context = context
        self._server_name = server_name
        super().__init__(pool_connections=4, pool_maxsize=_CONNECTIONS)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool: Any) -> None:
        if self._server_name:
            pool |= {"server_hostname": self._server_name, "assert_hostname": self._server_name}
        # Small requests and answers go back and forth: do not wait for more bytes to fill a packet.
        options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
        super().init_poolmanager(connections, maxsize, block, ssl_context=self._context, socket_options=options, **pool)

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """The context has it all."""


class Stream:
    """The events of one watch, until the server ends it or `close` is called from any thread."""

    def __init__(self, response: requests.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[Object]:
        buffer = b""
        for chunk in self._response.iter_content(chunk_size=None):
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield json.loads(line)

    def close(self) -> None:
        try:
            self._response.raw.shutdown()  # wakes the thread that reads; closing alone does not
        except (OSError, RuntimeError, ValueError):
            return  # it had ended already


class Client:
    """Requests to one API server; answers are dicts, refusals are `ApiError`, silence is `Unreachable`."""

    def __init__(self, access: Access, read_timeout: float | None = None) -> None:
        self.server = access.server
        self.source = access.source
        self._timeout = (_CONNECT_TIMEOUT, read_timeout or _READ_TIMEOUT)
        self._auth = authentication(access.user)
        self._session = requests.Session()
        # `requests` would read ~/.netrc and CA bundles from the environment; only the proxies are wanted from there.
        self._session.trust_env = False
        proxy = access.cluster.get("proxy-url")
        self._session.proxies = dict(
            {"http": proxy, "https": proxy} if proxy else requests.utils.get_environ_proxies(access.server)
        )
        self._session.headers["User-Agent"] = "pulumi-kubernetes"
        self._session.auth = self._auth
        self._session.verify = not access.cluster.get("insecure-skip-tls-verify", False)
        if access.server.startswith("https:"):
            adapter = _Adapter(tls(access, self._auth), access.cluster.get("tls-server-name"))
            self._session.mount("https://", adapter)
        self._closed = threading.Event()

    def get(self, path: str, **params: Any) -> Object:
        return self.request("GET", path, params=params)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Object:
        """Send a request, again if the server asks for patience or the connection had gone stale."""
        for attempt in range(1, _TRIES + 1):
            try:
                response = self._send(method, path, params or {}, body, content_type)
            except Unreachable:
                # A request that changes nothing twice may be sent twice; a POST may have been heard the first time.
                if attempt > 1 or method == "POST":
                    raise
                continue
            if response.status_code in _BUSY and attempt < _TRIES:
                self._closed.wait(_patience(response, attempt))
                continue
            if response.status_code == 401 and attempt == 1 and isinstance(self._auth, Bearer) and self._auth.forget():
                continue
            return _answer(response)
        raise AssertionError("the last attempt returns or raises")

    def text(self, path: str, **params: Any) -> str:
        """An answer that is no JSON, such as a container's log."""
        response = self._send("GET", path, params, None, "")
        if not response.ok:
            _answer(response)
        return response.text

    def watch(self, path: str, **params: Any) -> Stream:
        response = self._send("GET", path, {"watch": "true", **params}, None, "", stream=True)
        if not response.ok:
            _answer(response)
        return Stream(response)

    def close(self) -> None:
        self._closed.set()
        self._session.close()

    def _send(
        self, method: str, path: str, params: Mapping[str, Any], body: Any, content_type: str, stream: bool = False
    ) -> requests.Response:
        try:
            return self._session.request(
                method,
                self.server + path,
                params={key: value for key, value in params.items() if value is not None},
                data=None if body is None else json.dumps(body),
                headers={"Content-Type": content_type} if body is not None else None,
                # The server sends bookmarks about once a minute, so a watch that is silent for longer is dead.
                timeout=(_CONNECT_TIMEOUT, 120.0) if stream else self._timeout,
                stream=stream,
            )
        except requests.RequestException as error:
            raise Unreachable(f"the API server {self.server} does not answer: {_cause(error)}") from error
        except (KubeconfigError, OSError) as error:  # from a credential plugin or a token file
            raise Unreachable(f"the API server {self.server} cannot be asked: {error}") from error


def _patience(response: requests.Response, attempt: int) -> float:
    try:
        return min(float(response.headers["Retry-After"]), 5.0)
    except (KeyError, ValueError):
        return 0.1 * 2**attempt


def _answer(response: requests.Response) -> Object:
    try:
        body = response.json() if response.content else {}
    except ValueError:
        body = {}
    if response.ok:
        return body
    message = dig(body, "message", default="") or response.text.strip() or f"HTTP status {response.status_code}"
    raise ApiError(response.status_code, dig(body, "reason", default=""), message, dig(body, "details", default={}))


def _cause(error: BaseException) -> str:
    """The innermost reason, without the layers of libraries around it."""
    seen = {id(error)}
    while (inner := error.__cause__ or error.__context__ or _reason(error)) and id(inner) not in seen:
        seen.add(id(inner))
        error = inner
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return (str(error) or type(error).__name__).rsplit(">: ", 1)[-1]


def _reason(error: BaseException) -> BaseException | None:
    reason = getattr(error, "reason", None) or (error.args[0] if error.args else None)
    return reason if isinstance(reason, BaseException) else None
