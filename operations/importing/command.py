"""The command line of `slipway import`."""

import argparse
import json
import os
import re
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from config import Settings
from operations.importing.convert import Imported, imported
from operations.importing.field import OUTCOMES
from operations.importing.source import parse
from operations.problem import Problem
from operations.table import table

_ABOUT = (
    "Write a stack file from a SlurmCluster of Soperator, from objects of slurm-operator, or from the values of their "
    "charts. What became of each field is told on stderr. No secret is read or written."
)
_STDIN = "-"


def add_to(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("import", help=_ABOUT, description=_ABOUT)
    parser.add_argument("files", nargs="+", metavar="FILE", help="YAML of kubectl or of helm; - for stdin")
    parser.add_argument("--stack", help="the stack to write for (default: the name of the cluster)")
    parser.add_argument("--output", metavar="FILE", help="where to write (default: Pulumi.<stack>.yaml)")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument("--json", action="store_true", help="for programs: what became of each field, on stdout")
    parser.set_defaults(run=_import)


def _import(args: argparse.Namespace) -> int:
    made = imported({name: parse(name, _text(name)) for name in args.files})
    output = Path(args.output or f"Pulumi.{_stack(args.stack or made.cluster)}.yaml")
    _write(output, made.text, args.force)
    sys.stderr.write(_told(made))
    if args.json:
        fields = [asdict(row) for row in made.rows]
        found = {"output": str(output), "source": made.source, "fields": fields, "todo": list(made.todo)}
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        sys.stdout.write(f"{output}\n")
    return 0


def _stack(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", name):
        raise Problem(f"{name} is no name for a stack: letters, digits, - _ and . alone; give one with --stack.")
    return name


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == _STDIN else Path(name).read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Problem(f"{name}: it is not text in UTF-8.") from None


def _write(output: Path, text: str, force: bool) -> None:
    """All or nothing, and only what the settings take as it stands in the file."""
    if output.exists() and not force:
        raise Problem(f"{output} is there already; name another with --output, or write over it with --force.")
    if not output.parent.is_dir():
        raise Problem(f"There is no folder {output.parent}; make it, or name another with --output.")
    handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Settings.from_stack_file(draft)
        draft.chmod(0o644)
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)


def _printable(text: str) -> str:
    """A name in a file from elsewhere must not speak to the terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _told(made: Imported) -> str:
    rows = [tuple(map(_printable, (row.outcome, row.field, row.into, row.about))) for row in made.rows]
    counts = ", ".join(f"{sum(row.outcome == each for row in made.rows)} {each}" for each in OUTCOMES)
    todo = "".join(f"  {each}\n" for each in made.todo)
    head = table(("OUTCOME", "FIELD", "BECOMES", "WHY, OR WHAT TO DO"), rows)
    return f"{head}\n\nFrom {made.source}: {counts}.\nBefore the first `slipway up`:\n{todo}"
