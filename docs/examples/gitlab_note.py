"""One note a stack on a GitLab merge request: `gitlab_note.py STACK report.md` writes it, or writes it anew.

The token is in REPORT_TOKEN; where it works comes from the variables that GitLab gives to every job."""

import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

PAGE = 100


def ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    project = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
    request = urllib.request.Request(  # noqa: S310 -- GitLab's own address
        f"{project}/merge_requests/{os.environ['CI_MERGE_REQUEST_IID']}/notes{path}",
        json.dumps(body).encode() if body else None,
        {"PRIVATE-TOKEN": os.environ["REPORT_TOKEN"], "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def find(marker: str) -> int | None:
    """Our note of last time. Only by its first line: anything further down may be quoted."""
    page = 1
    while notes := ask("GET", f"?per_page={PAGE}&page={page}"):
        for note in notes:
            if note["body"].startswith(marker) and not note.get("system"):
                return note["id"]
        page += 1
    return None


def main(stack: str, file: str) -> None:
    note = find(f"<!-- slipway-report: {stack} -->")
    body = {"body": Path(file).read_text()}
    if note is None:
        ask("POST", "", body)
    else:
        ask("PUT", f"/{note}", body)


if __name__ == "__main__":
    main(*sys.argv[1:])
