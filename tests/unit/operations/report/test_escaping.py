"""Nothing that is quoted gets out of its quotes: job names, messages, resources and files come from anybody."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.report import html, markdown
from operations.report.model import Report
from tests.unit.operations.report.told import change, report, said, step, violation, workers

EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "x | y | z",
    "`code` ``and`` ```fence```",
    "</details></code></pre>",
    "\n\n# A heading\n\n- and a list",
    "```\n# out of the fence\n````\n",
    "@everybody look, fixes #1, [here](https://example.com) ![x](https://example.com/x.png)",
    "<!-- slipway-report: prod -->",
    "\\| \\` \\\\|",
    "\u202etxt.exe\u200b\x1b[31m",
    "--> <b>",
    "{{ 7 * 7 }} {% raw %}",
]


def everywhere(evil: str) -> Report:
    """A report that quotes it in each place there is."""
    return report(
        change(workers(4), workers(2), waited_for=(evil,), stranded=(evil,), unreachable=evil),
        said(f"A warning: {evil}", "warning"),
        said(f"An error: {evil}", "error"),
        violation(evil, policy=f"p{evil}", resource=f"r{evil}"),
        violation(evil, "advisory"),
        step("update", "kubernetes:core/v1:ConfigMap", f"map{evil}", {"data": {evil: "1"}}, {"data": {evil: evil}}),
        step("delete", f"a:b:{evil}", evil, {"x": evil}),
        step("replace", f"a:b:{evil}", f"replaced{evil}", {"x": 1}, {"x": evil}, keys=[evil]),
    )


def outside_fences(text: str) -> list[str]:
    """Lines of Markdown that are not in a fence, by the rules of CommonMark."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            fence = "" if re.fullmatch(rf"{fence}`*\s*", line) else fence
        elif opened := re.match(r"(`{3,})[a-z]*$", line):
            fence = opened[1]
        else:
            lines.append(line)
    assert not fence, "a fence is never closed"
    return lines


def without_code(line: str) -> str:
    """A line without its code spans, in which nothing has a meaning."""
    return re.sub(r"(?<![`\\])`[^`]+`", "", line)


@pytest.mark.parametrize("evil", EVIL)
def test_markdown_keeps_its_shape(evil: str) -> None:
    text = markdown.render(everywhere(evil))
    lines = [without_code(line) for line in outside_fences(text)]
    plain = [without_code(line) for line in outside_fences(markdown.render(everywhere("harmless")))]
    assert [line for line in lines if line.startswith("#")] == [line for line in plain if line.startswith("#")]
    assert sum(line.startswith("|") for line in lines) == sum(line.startswith("|") for line in plain)
    joined = "\n".join(lines)
    assert set(re.findall(r"</?[a-z]+|<!--", joined)) <= {
        *("<details", "<summary", "<b", "</b", "</summary", "</details", "<br", "<sub", "</sub", "<code", "</code"),
        "<!--",
    }
    assert joined.count("<!--") == 1
    assert joined.count("</details>") == 1
    assert not re.search(r"(?<!\\)!?\[[^\]]*(?<!\\)\]\(", joined)
    assert not re.search(r"@\w", joined)
    assert "\u202e" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("evil", EVIL)
def test_cells_stay_cells(evil: str) -> None:
    for cell in (markdown.code(evil), markdown.text(evil), markdown.arrow((evil, f"{evil}!"))):
        bare = re.sub(r"\\\\", "", cell)
        assert not re.search(r"(?<!\\)\|", bare)
        assert "\n" not in cell


class Shape(HTMLParser):
    """The tags of a page, each closed where it should be, and whatever it would load."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.loads: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.append(tag)
        self.loads += [
            f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "style") or name.startswith("on")
        ]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


@pytest.mark.parametrize("evil", EVIL)
def test_a_page_is_whole_and_loads_nothing(evil: str) -> None:
    page = html.render(everywhere(evil))
    shape = Shape(page)
    assert shape.loads == []
    assert not {"script", "img", "link", "iframe", "object"} & set(shape.tags)
    assert shape.tags.count("details") == 3
    assert not re.search(r"url\(|@import", page)
    assert "default-src 'none'" in page
    assert "\u202e" not in page


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_keeps_its_place(one: str, other: str) -> None:
    written = markdown.render(
        report(violation(one), said(other, "error"), step("create", "a:b:C", one, None, {"x": other}))
    )
    assert written.startswith("<!-- slipway-report: dev -->\n## ")
    outside_fences(written)
    Shape(html.render(report(violation(one), said(other, "error"))))


@given(st.text())
def test_a_marker_is_always_one_comment(stack: str) -> None:
    marker = markdown.marker(stack)
    assert re.fullmatch(r"<!-- slipway-report: [A-Za-z0-9._/-]* ?-->|<!-- slipway-report: [^<>]* -->", marker)
    assert marker.count("-->") == 1
