"""What the pages tell people to type: commands in blocks and in the text, settings, and pieces of stack files."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from handbook.links import FOREIGN

HOUSE = Path(__file__).parents[3]
PAGES = sorted(
    [
        *(HOUSE / name for name in ("README.md", "CONTRIBUTING.md", "lab/plugins/README.md")),
        *(HOUSE / "docs").rglob("*.md"),
        *(HOUSE / "policies/rules").glob("*.md"),
    ]
)
SHELLS = ("console", "sh", "bash", "shell")

_BLOCK = re.compile(r"^(?P<fence>```+)(?P<kind>\w*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ALTERNATIVES = re.compile(r"(?<=\w)(\\?\|[\w-]+)+")  # `lab node stop|start NAME`: the first one stands for all
_INSIDE = re.compile(r"\$\(([^()]*)\)")
_VARIABLE = re.compile(r"[A-Z_a-z][A-Z_a-z0-9]*=")


@dataclass(frozen=True)
class Typed:
    """A program with its words, and where somebody is told to type it. In a `block` it is all there; in the text it may
    be only named."""

    page: str
    words: tuple[str, ...]
    block: bool

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def blocks(page: Path, *kinds: str) -> Iterator[str]:
    for block in _BLOCK.finditer(page.read_text()):
        if block["kind"] in kinds:
            yield block["text"]


def inline(page: Path) -> Iterator[str]:
    """What stands between backticks in the text."""
    text = _BLOCK.sub("", page.read_text())
    return (code.replace("\n", " ") for code in _CODE.findall(text))


def typed() -> Iterator[Typed]:
    """Every simple command of all pages."""
    for page in PAGES:
        name = str(page.relative_to(HOUSE))
        lines = [(line, True) for block in blocks(page, *SHELLS) for line in _lines(block)]
        lines += [(_ALTERNATIVES.sub("", code), False) for code in inline(page)]
        for line, block in lines:
            yield from (Typed(name, tuple(words), block) for words in simple_commands(line))


def _lines(block: str) -> Iterator[str]:
    """Lines of a shell, joined where one goes on; in a `console` only what follows a prompt."""
    prompted = any(line.startswith("$ ") for line in block.splitlines())
    joined = re.sub(r"\\\n\s*", " ", block)
    for line in joined.splitlines():
        if not prompted or line.startswith("$ "):
            yield line.removeprefix("$ ")


def simple_commands(line: str) -> Iterator[list[str]]:
    """The programs in a line of shell with their words, also those inside of `$(…)`."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:  # a quote that another line closes
        return
    words: list[str] = []
    for token in [*tokens, ";"]:
        if set(token) <= set(";&|()"):
            if found := _program(words):
                yield found
            words = []
        else:
            words.append(token)
            for inside in _INSIDE.findall(token):
                yield from simple_commands(inside)


def _program(words: list[str]) -> list[str]:
    """Without variables, runners and redirections around it; none if it is only a word in a sentence."""
    while words and (_VARIABLE.match(words[0]) or words[0] in ("sudo", "eval", "do", "then", "!")):
        words = words[1:]
    if words[:2] == ["uv", "run"]:
        words = words[2:]
    for index, word in enumerate(words):
        if set(word) <= set("<>") and word:
            words = words[:index]
            break
    if not words or words[0].startswith("$("):
        return []
    return [words[0].removeprefix(".venv/bin/"), *words[1:]]


def settings() -> Iterator[tuple[str, str]]:
    """Page and text of everything between backticks that looks like a path of settings."""
    for page in [each for each in PAGES if each.name not in FOREIGN]:
        for code in inline(page):
            if re.fullmatch(r"[a-z][A-Za-z]*(\.[A-Za-z][A-Za-z0-9]*)+(: .*)?", code):
                yield str(page.relative_to(HOUSE)), code.partition(":")[0]


def stack_files() -> Iterator[tuple[str, dict[str, Any]]]:
    """Page and entries of every piece of a stack file."""
    for page in PAGES:
        for block in blocks(page, "yaml"):
            found = yaml.safe_load(block.replace(", …", "").replace("sha256:…", f"sha256:{0:064}"))
            found = found.get("config", found) if isinstance(found, dict) else {}
            entries = {key: value for key, value in found.items() if str(key).startswith("slipway:")}
            if entries:
                yield str(page.relative_to(HOUSE)), entries
