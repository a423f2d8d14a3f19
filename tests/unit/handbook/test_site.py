"""The site builds without a warning, and needs nothing from anywhere else when it is read."""

import logging
import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from tests.unit.handbook.pages import HOUSE

FETCHED = re.compile(r"""<(?:link|script|img|iframe|source)\b[^>]*?(?:href|src)=["']?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(HOUSE / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert not FETCHED.search(page.read_text()), page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text()), sheet.name


def test_no_page_has_a_diagram_that_a_script_from_elsewhere_would_draw(site: Path) -> None:
    """Material fetches Mermaid from a server of its own as soon as a page asks for it."""
    assert not [page.name for page in site.rglob("*.html") if 'class="mermaid"' in page.read_text()]


def test_settings_rules_and_classes_are_on_their_pages(site: Path) -> None:
    assert 'id="drain.timeout"' in (site / "configuration.html").read_text()
    assert 'href="configuration.html#drain.timeout"' in (site / "changes.html").read_text()
    assert "SlurmctldPort" in (site / "change-classes.html").read_text()
    assert (site / "policies" / "budget.html").exists()
    assert not [page.name for page in site.rglob("*.html") if "generated:" in page.read_text()]


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[x](nowhere.md)\n")
    text = (HOUSE / "mkdocs.yml").read_text().partition("\nnav:")[0].replace("- handbook/hook.py", "[]")
    (tmp_path / "mkdocs.yml").write_text(text.replace("hooks:\n  []", "hooks: []").replace("  - style.css", "  []"))
    config = load_config(str(tmp_path / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True)
    with caplog.at_level(logging.WARNING), pytest.raises(Abort):
        build(config)
    assert "nowhere.md" in caplog.text
