"""`slipway`: what people run by hand. What concerns only the files of a stack needs neither engine nor cluster."""

import argparse
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

from config import ConfigProblems, Settings
from config.schema import text as schema
from operations import administration
from operations.importing import command as importing
from operations.problem import Problem
from operations.report import command as report
from slurm.changes import Plan, plan
from slurm.moves import moves, places
from slurm.new_key import auth_key, new_key, new_token_key, token_key
from slurm.render import FILES, MARK, render


def _settings(args: argparse.Namespace) -> Settings:
    return Settings.from_stack_file(Path(args.file or f"Pulumi.{args.stack}.yaml"), os.environ)


def _render(args: argparse.Namespace) -> int:
    """Write the files that a stack would get."""
    files = render(_settings(args))
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for name in set(FILES) - set(files):
        _remove(out / name)
    for name, text in files.items():
        (out / name).write_text(text)
    written = [str(out / name) for name in files]
    print(json.dumps({"files": written}, indent=2) if args.json else "\n".join(written))
    return 0


def _remove(file: Path) -> None:
    """Take away what an earlier render has left, and nothing that somebody else has written."""
    if file.is_file() and any(MARK in line for line in file.read_text(errors="replace").splitlines()[:2]):
        file.unlink()


def _schema(_: argparse.Namespace) -> int:
    """Print the JSON Schema of a stack file."""
    print(schema(), end="")
    return 0


def _plan(args: argparse.Namespace) -> int:
    """Say what going from one stack file or rendered folder to another does to a running cluster."""
    (old, before), (new, after) = _side("OLD", Path(args.old)), _side("NEW", Path(args.new))
    steps = plan(old, new).steps
    if before and after:
        key = new_key(auth_key(before), auth_key(after), bool(steps))
        tokens = new_token_key(token_key(before), token_key(after))
        steps = (*moves(places(before), places(after)), *key, *steps, *tokens)
    planned = Plan(steps)
    print(json.dumps(planned.to_json(), indent=2) if args.json else planned.table())
    return 1 if planned.refused else 0


def _side(which: str, place: Path) -> tuple[dict[str, str], Settings | None]:
    """The files of one side, and its settings. What is wrong with it is told with the side that it is wrong on."""
    try:
        files, settings = _read(place)
        plan({}, files)  # reads all of them
    except (ConfigProblems, ValueError, OSError) as problem:
        raise Problem(f"{which} ({place}): {problem}") from None
    return files, settings


def _read(place: Path) -> tuple[dict[str, str], Settings | None]:
    """Files, and settings, which a folder of rendered files does not tell."""
    if place.is_dir():
        if not (place / "slurm.conf").is_file():
            raise ValueError("there is no slurm.conf in it; name a stack file or a folder of rendered files")
        return {file.name: _text(file) for file in sorted(place.iterdir()) if file.is_file()}, None
    settings = Settings.from_stack_file(place, os.environ)
    return render(settings), settings


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{file.name} is not text in UTF-8; take it out of the folder") from None


def command_line() -> argparse.ArgumentParser:
    """What can be said, for whoever reads it and for the documentation."""
    parser = argparse.ArgumentParser(prog="slipway", description="A Slurm cluster on Kubernetes, by hand.")
    parser.add_argument("--version", action="version", version=f"slipway {version('slipway')}")
    commands = parser.add_subparsers(required=True)
    rendering = commands.add_parser("render", help=_render.__doc__)
    source = rendering.add_mutually_exclusive_group(required=True)
    source.add_argument("--stack", help="the stack whose Pulumi.<stack>.yaml is in this folder")
    source.add_argument("--file", help="a stack file")
    rendering.add_argument("--out", required=True, help="the folder to write to")
    rendering.add_argument("--json", action="store_true", help="for programs")
    rendering.set_defaults(run=_render)
    describing = commands.add_parser("schema", help=_schema.__doc__)
    describing.add_argument("--json", action="store_true", help="for programs, as it is anyway")
    describing.set_defaults(run=_schema)
    planning = commands.add_parser("plan", help=_plan.__doc__)
    planning.add_argument("old", help="a stack file, or a folder that `slipway render` wrote")
    planning.add_argument("new", help="the same for what is to come")
    planning.add_argument("--json", action="store_true", help="for programs")
    planning.set_defaults(run=_plan)
    administration.add_to(commands)
    report.add_to(commands)
    importing.add_to(commands)
    return parser


def main() -> int:
    parser = command_line()
    args, rest = parser.parse_known_args()
    if rest and not hasattr(args, "words"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    args.words = rest  # what `slipway up` and `report` hand on to pulumi
    try:
        return args.run(args)
    except (ConfigProblems, Problem, ValueError, OSError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
