"""One request, and what became of it."""

import json
import ssl
import urllib.error
import urllib.request
from typing import Any


class Refused(Exception):  # noqa: N818 -- a word for what happened
    """An answer that is none of success."""

    def __init__(self, status: int, what: str, text: str) -> None:
        super().__init__(f"{what}: {status} {text[:1000]}")
        self.status = status


def ask(
    method: str, url: str, headers: dict[str, str], body: Any = None, context: ssl.SSLContext | None = None
) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as problem:
        raise Refused(problem.code, f"{method} {url}", problem.read().decode(errors="replace")) from None
