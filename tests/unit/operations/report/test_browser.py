"""The page in a real browser, where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from operations.report import html
from tests.unit.operations.report.test_escaping import EVIL, Shape, everywhere

CHROMIUM = shutil.which("chromium")
QUIET = ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking")
QUIET += ("disable-component-update", "disable-sync")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here; test_escaping reads the same page with a parser")
def test_a_browser_finds_in_the_page_what_was_meant(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(html.render(everywhere(" ".join(EVIL))))
    argv = [
        str(CHROMIUM),
        *(f"--{each}" for each in QUIET),
        f"--user-data-dir={tmp_path}/profile",
        "--dump-dom",
        page.as_uri(),
    ]
    dom = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout
    assert Shape(dom).tags == Shape(page.read_text()).tags
