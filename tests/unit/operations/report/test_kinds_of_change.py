"""Reports of six kinds of change, from what the real engine told in previews of the dev stack on a real cluster.

After a change of the layout, `SLIPWAY_GOLDEN=1 pytest tests/unit/operations/report` writes them anew, to be read."""

import os
from pathlib import Path

import pytest

from operations.report import html, markdown
from operations.report.events import parse, read
from operations.report.model import Report, build

HERE = Path(__file__).parent
VERDICTS = {
    "partition-time": "fine",
    "scale-out": "fine",
    "scale-in-with-jobs": "attention",
    "image-upgrade": "attention",
    "refused": "stop",
    "policy-violation": "stop",
}


def report_of(name: str) -> Report:
    file = HERE / "recorded" / f"{name}.jsonl"
    return build("dev", read(parse(file.read_text().splitlines(), name)))


@pytest.mark.parametrize("name", VERDICTS)
def test_the_report_is_as_it_was_read_and_found_good(name: str) -> None:
    golden = HERE / "golden" / f"{name}.md"
    written = markdown.render(report_of(name))
    if os.environ.get("SLIPWAY_GOLDEN"):
        golden.write_text(written)
    assert written == golden.read_text()


@pytest.mark.parametrize(("name", "verdict"), VERDICTS.items())
def test_the_verdict_is_the_first_line_that_is_seen(name: str, verdict: str) -> None:
    report = report_of(name)
    assert report.mark == verdict
    hidden, first, *_ = markdown.render(report).splitlines()
    assert hidden == "<!-- slipway-report: dev -->"
    assert first.startswith(f"## {markdown.MARKS[report.mark]} `dev`: ")


@pytest.mark.parametrize("name", VERDICTS)
def test_a_recording_tells_nothing_of_the_machine_it_was_made_on(name: str) -> None:
    text = (HERE / "recorded" / f"{name}.jsonl").read_text()
    assert len(text) < 60_000
    for private in ("/root/", "/home/", "/tmp/", "localhost", "PRIVATE KEY", "127.0.0"):
        assert private not in text


@pytest.mark.parametrize("name", VERDICTS)
def test_the_page_tells_the_same(name: str) -> None:
    report = report_of(name)
    page = html.render(report)
    for each in report.resources:
        assert each.name in page
    for each in report.files:
        assert f"b/{each.title}" in page
