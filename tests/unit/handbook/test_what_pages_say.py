"""Commands, targets, options, settings and containers that the pages name are there: documentation must not rot."""

import argparse
import re
from collections.abc import Iterator
from typing import Any

import pytest

from config import ConfigProblems, Settings
from config.loading import load_entries
from config.paths import UNKNOWN, child, resolve
from handbook.commands import subcommands
from lab.cli import command_line as lab
from operations.cli import command_line as slipway
from policies.rules import RULES
from tests.unit.handbook.pages import HOUSE, Typed, settings, simple_commands, stack_files, typed

TYPED = list(typed())
MAKEFILE = (HOUSE / "Makefile").read_text()
TARGETS = set(re.findall(r"^([\w./-]+):(?!=)", MAKEFILE, re.MULTILINE))
VARIABLES = set(re.findall(r"^([A-Z]+) \?=", MAKEFILE, re.MULTILINE))
PROGRAMS = {"slipway": slipway, "lab": lab}
TO_PULUMI = ("preview", "up", "report")  # what else they are told is pulumi's
FILES = re.compile(r"\.(conf|key|lua|md|py|sh|yaml|yml|json|mod|lock|install|j2)$")
# What a piece of a stack file may count on: the rest of the file.
FILTERS = {"system": {}, "compute": {}}
USERS = [{"name": "alice", "uid": 10001}, {"name": "bob", "uid": 10002}]


def said(program: str) -> list[Typed]:
    found = [each for each in TYPED if each.words[0] == program and each.words[1:]]
    assert found, f"the pages name no {program}: they are no longer read"
    return found


def problem_of(program: str, words: list[str], whole: bool) -> str:
    """What the program's own parser has against these words."""
    if "…" in words:
        return ""
    parser = PROGRAMS[program]()
    if whole:
        try:
            args, rest = parser.parse_known_args(words)
        except SystemExit as end:
            return "" if end.code == 0 else "the parser refuses it"
        return f"nobody knows {rest}" if rest and not hasattr(args, "words") else ""
    return named_problem(parser, words)


def named_problem(parser: argparse.ArgumentParser, words: list[str]) -> str:
    """The same of a command that is only named: it and its options exist."""
    commands = subcommands(parser)
    named = next((word for word in words if word in commands), None)
    options = {word.partition("=")[0] for word in words if word.startswith("--") and word != "--"}
    if named in TO_PULUMI:
        return ""
    if named is None and not options:
        return f"there is no {words[0]}"
    parsers = [parser, *([commands[named]] if named else [])]
    known = {option for each in parsers for option in each._option_string_actions}
    return f"there is no option {options - known}" if options - known else ""


@pytest.mark.parametrize("program", PROGRAMS)
def test_commands_and_their_options_exist(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    problems = {str(each): problem_of(program, list(each.words[1:]), each.block) for each in said(program)}
    assert {each: problem for each, problem in problems.items() if problem} == {}


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("slipway drian worker-1 --reason x", True),
        ("slipway drain worker-1", True),
        ("slipway status --yaml", True),
        ("slipway status --yaml", False),
        ("slipway explode", False),
        ("lab node halt compute-0", True),
    ],
)
def test_what_does_not_exist_is_found(line: str, whole: bool, capsys: pytest.CaptureFixture[str]) -> None:
    [[program, *words]] = simple_commands(line)
    assert problem_of(program, words, whole)


def test_commands_are_found_wherever_a_line_has_them() -> None:
    line = 'A=1 lab=$(.venv/bin/lab env) && eval "$(uv run lab --name b env)" | slipway status > x.txt  # slipway no'
    assert sorted(map(tuple, simple_commands(line))) == [
        ("lab", "--name", "b", "env"),
        ("lab", "env"),
        ("slipway", "status"),
    ]


def test_targets_and_variables_of_make_exist() -> None:
    for each in said("make"):
        for word in each.words[1:]:
            name, assigned, _ = word.partition("=")
            assert name in (VARIABLES if assigned else TARGETS), each


def keys() -> Iterator[tuple[str, str]]:
    """Settings that are set by a command, and those that the text names."""
    for each in said("pulumi"):
        if each.words[1:3] in (("config", "set"), ("config", "rm")):
            plain = [word for word in each.words[3:] if not word.startswith("--")]
            yield from ((str(each), key.removeprefix("slipway:")) for key in plain[:1])
    sections = {field.alias for field in Settings.model_fields.values()}
    for page, name in settings():
        if name.partition(".")[0] in sections and not FILES.search(name) and name != "monitoring.panels":
            yield page, name


def test_settings_that_are_named_exist() -> None:
    found = set(keys())
    assert len(found) > 100
    for where, key in found:
        _, shape = resolve(key, Settings)
        assert shape != UNKNOWN, f"{where}: there is no setting {key}"


def unknown(value: Any, shape: Any, path: str) -> Iterator[str]:
    """Keys of a piece of a stack file that the models do not have."""
    if shape == UNKNOWN:
        yield path
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from unknown(each, child(shape, key), f"{path}.{key}")
    elif isinstance(value, list) and shape.kind == "list":
        for each in value:
            yield from unknown(each, child(shape, 0), f"{path}[]")


def test_pieces_of_stack_files_have_only_keys_that_exist() -> None:
    for page, entries in stack_files():
        for key, value in entries.items():
            _, shape = resolve(key.removeprefix("slipway:"), Settings)
            assert list(unknown(value, shape, key)) == [], page


def test_pieces_of_stack_files_are_valid() -> None:
    """Each by itself, in a file that has the users and filters that it refers to."""
    for page, entries in stack_files():
        whole: dict[str, Any] = {"users": USERS}
        whole |= {key.removeprefix("slipway:"): each for key, each in entries.items()}
        whole["nodeFilters"] = {**FILTERS, **whole.get("nodeFilters", {})}
        if "accounting" in whole:
            whole["accounting"] = {"enabled": True, **whole["accounting"]}
        try:
            load_entries(whole)
        except ConfigProblems as problems:
            pytest.fail(f"{page}: {problems}")


def test_containers_that_are_asked_exist() -> None:
    code = "".join(file.read_text() for file in (HOUSE / "components").glob("*.py"))
    for each in said("kubectl"):
        for flag, name in zip(each.words, each.words[1:], strict=False):
            if flag == "-c" and each.words[1] in ("exec", "logs"):
                assert f'"{name}"' in code, each
            if flag == "--":
                break


def test_every_rule_is_on_the_page_of_rules() -> None:
    page = (HOUSE / "docs/policies.md").read_text()
    for rule in RULES:
        assert f"policies/rules/{rule.page}" in page, rule.name
