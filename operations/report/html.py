"""The report as one page for a browser: no scripts, nothing loaded from anywhere, light and dark."""

from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from operations.report.markdown import clean
from operations.report.model import Report
from operations.report.resources import SIGNS
from operations.report.words import Code, Words

_LINES = {"+": "add", "-": "del", "@": "at"}


def code(value: str) -> Markup:
    return Markup("<code>{}</code>").format(clean(value)) if value.strip() else Markup("")


def words(value: Words) -> Markup:
    return Markup("").join(code(each) if isinstance(each, Code) else escape(clean(each)) for each in value)


def diff(lines: tuple[str, ...]) -> Markup:
    """Lines of a diff, each in its colour. The first two name the file."""
    names = 2 if len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ") else 0
    shown = [
        Markup('<span class="{}">{}</span>').format("name" if at < names else _LINES.get(line[:1], ""), clean(line))
        for at, line in enumerate(lines)
    ]
    return Markup("").join(shown)


def arrow(cell: tuple[str | None, str | None]) -> Markup:
    """Before and after; nothing is what there was not, or will not be."""
    before, after = (clean(side or "") for side in cell)
    if before == after:
        return code(after)
    new = Markup("<ins>{}</ins>").format(after) if after else Markup('<span class="none">gone</span>')
    if not before:
        return new
    return Markup('<del>{}</del> <span class="arrow">→</span> {}').format(before, new)


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=True,
)
_TEMPLATES.filters |= {"clean": clean, "code": code, "words": words, "diff": diff, "arrow": arrow}
_TEMPLATES.globals |= {"signs": SIGNS}


def render(report: Report) -> str:
    """All of it: a page has room."""
    return _TEMPLATES.get_template("report.html.j2").render(report=report)
