"""The report as Markdown for a pull request's comment.

What is quoted may come from anybody who can submit a job or open a pull request. So nothing of it is ever written as it
is: in a sentence each sign that means something to Markdown is escaped, and a fence is longer than any in its text."""

import html
import re
from pathlib import Path

import jinja2

from operations.report.model import Report
from operations.report.room import ROOMS, cut
from operations.report.words import Code, Words

LIMIT = 60_000  # GitHub takes 65,536 characters
MARKS = {"stop": "⛔", "attention": "⚠️", "fine": "✅"}

_SIGNS = re.compile(r"([\\`*_\[\]#~|])")
# Signs that show nothing, or turn the direction of what follows: no reviewer would see what they do.
_INVISIBLE = [*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F)]
_INVISIBLE += [*range(0x2060, 0x206A), 0xFEFF]
_SHOWN = {sign: f"\\u{sign:04x}" for sign in _INVISIBLE}
_RUN = re.compile("`{3,}")


def clean(text: str) -> str:
    """With signs that cannot be seen shown as what they are."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def text(value: str) -> str:
    """Plain words in a sentence or a cell. An at sign calls nobody."""
    escaped = html.escape(" ".join(clean(value).split()) if value.strip() else value, quote=False)
    kept = value[: len(value) - len(value.lstrip())], value[len(value.rstrip()) :]
    inner = _SIGNS.sub(r"\\\1", escaped).replace("@", "@\u200b")
    return f"{' ' if kept[0] and value.strip() else ''}{inner}{' ' if kept[1] and value.strip() else ''}"


def code(value: str) -> str:
    """Quoted in a sentence or a cell. With a backtick or a bar in it only HTML can say it for certain."""
    shown = " ".join(clean(value).split())
    if not shown:
        return ""
    if "`" in shown or "|" in shown:
        signs = (sign if sign.isalnum() or sign in " .,/:=" else f"&#{ord(sign)};" for sign in shown)
        return f"<code>{''.join(signs)}</code>"
    return f"`{shown}`"


def words(value: Words) -> str:
    return "".join(code(each) if isinstance(each, Code) else text(each) for each in value)


def fence(lines: tuple[str, ...], language: str = "", more: int = 0) -> str:
    """Lines as they are. Whatever they hold, the fence ends after them."""
    shown = [clean(line).replace("\n", " ") for line in lines]
    if more:
        shown.append(f"… {more} more lines")
    longest = max((len(run) for line in shown for run in _RUN.findall(line)), default=2)
    ticks = "`" * (longest + 1)
    return "\n".join([f"{ticks}{language}", *shown, ticks])


def arrow(cell: tuple[str | None, str | None]) -> str:
    """Before and after; nothing is what there was not, or will not be."""
    before, after = (code(side or "") for side in cell)
    if before == after:
        return after
    if not before:
        return f"**{after}**"
    return f"{before} → {f'**{after}**' if after else 'gone'}"


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 -- no HTML: each value goes through one of the filters below
)
_TEMPLATES.filters |= {"text": text, "code": code, "words": words, "arrow": arrow}
_TEMPLATES.globals |= {"fence": fence, "row": row, "marks": MARKS}


def marker(stack: str) -> str:
    """By which the comment of a stack is found again. It stands in the first line, where nothing quoted ever does."""
    return f"<!-- slipway-report: {re.sub(r'[^A-Za-z0-9._/-]', '_', stack)} -->"


def render(report: Report) -> str:
    """As much as fits."""
    written = ""
    for room in ROOMS:
        shorter = cut(report, room)
        written = _TEMPLATES.get_template("report.md.j2").render(report=shorter, marker=marker(report.stack))
        if len(written) <= LIMIT:
            break
    return written
