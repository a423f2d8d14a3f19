"""Links that are true in the repository, made true on the site; and names of settings that lead to their reference."""

import posixpath
import re
from collections.abc import Callable, Mapping

from handbook import reference

REFERENCE = "configuration.md"
FOREIGN = ("coming-from.md",)  # names settings of other systems, which look like ours

_FENCE = re.compile(r"^(?P<fence>```+).*?^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<text>\]\()(?P<target>[^)\s#]+)(?P<rest>(#[^)\s]*)?\))")
_SETTING = re.compile(r"(?<![\[`])`(?P<key>[a-z][A-Za-z]*(\.[A-Za-z][A-Za-z0-9]*)+)`(?![`\]])")


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """The text with everything but its fenced blocks changed."""
    made, end = "", 0
    for block in _FENCE.finditer(markdown):
        made += change(markdown[end : block.start()]) + block.group()
        end = block.end()
    return made + change(markdown[end:])


def moved(markdown: str, source: str, served: Mapping[str, str]) -> str:
    """The links of a page, whose file in the repository is `source`, to where the site serves what they mean."""
    here = posixpath.dirname(served[source])

    def lead(link: re.Match[str]) -> str:
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["target"]))
        if "://" in link["target"] or meant not in served:
            return link.group()
        return link["text"] + posixpath.relpath(served[meant], here or ".") + link["rest"]

    return outside_code(markdown, lambda text: _LINK.sub(lead, text))


def with_settings(markdown: str, page: str) -> str:
    """Every `section.key` in the text, outside of links and headings, as a link to its place in the reference."""
    if page in FOREIGN:
        return markdown
    way = "" if page == REFERENCE else posixpath.relpath(REFERENCE, posixpath.dirname(page) or ".")

    def lead(name: re.Match[str]) -> str:
        key = reference.find(name["key"])
        return f"[{name.group()}]({way}#{key.anchor})" if key else name.group()

    def lines(text: str) -> str:
        return "".join(
            line if line.startswith("#") else _SETTING.sub(lead, line) for line in text.splitlines(keepends=True)
        )

    return outside_code(markdown, lines)
