"""The commands of `slipway` and `lab`, from their own parsers."""

import argparse

from lab.cli import command_line as lab
from operations.cli import command_line as slipway


def page() -> str:
    return "\n\n".join([_program(slipway()), _program(lab())])


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a program by name."""
    [chosen] = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    return dict(chosen.choices)


def _program(parser: argparse.ArgumentParser) -> str:
    [chosen] = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    about = {each.dest: each.help or "" for each in chosen._choices_actions}
    parts = [f"## {parser.prog}\n\n{parser.description}", *_options(parser)]
    for name, each in subcommands(parser).items():
        parts += [f"### {parser.prog} {name}\n\n{about[name]}", *_options(each)]
    return "\n\n".join(parts)


def _options(parser: argparse.ArgumentParser) -> list[str]:
    rows = [
        f"| `{_spelled(each)}` | {each.help or ''} |"
        for each in parser._actions
        if not isinstance(each, argparse._HelpAction | argparse._SubParsersAction)
    ]
    return ["\n".join(["| option | |", "|---|---|", *rows])] if rows else []


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        words = action.choices or [str(action.metavar or action.dest)]
        return "\\|".join(map(str, words))
    takes = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return ", ".join(action.option_strings) + takes
