"""The command line of `slipway report`."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from operations import pack
from operations.administration import HOUSE
from operations.report import html, markdown
from operations.report.events import parse, read
from operations.report.model import build
from operations.report.preview import preview, save, selected

_ABOUT = (
    "What a change does to the running cluster, for a pull request: Markdown on stdout. Exit code 1 if it fails, is "
    "refused or breaks a mandatory policy. Takes all options of `pulumi preview`."
)


def add_to(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("report", help=_ABOUT, description=_ABOUT)
    parser.add_argument("--stack", help="the stack (default: the selected one)")
    parser.add_argument("--file", help="its config file (default: Pulumi.<stack>.yaml)")
    parser.add_argument("--events", metavar="FILE", help="read what a preview told from here, and make none")
    parser.add_argument("--save-events", metavar="FILE", help="keep what the preview told, for `--events`")
    parser.add_argument("--policy-pack", metavar="FOLDER", help="other rules than those in policies/")
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument("--html", action="store_true", help="one page for a browser, with nothing left out")
    layout.add_argument("--json", action="store_true", help="for programs, with nothing left out")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: stdout)")
    parser.set_defaults(run=_report, words=[])


def _report(args: argparse.Namespace) -> int:
    stack = args.stack or selected(HOUSE)
    if args.events:
        events = parse(Path(args.events).read_text().splitlines(), args.events)
    else:
        sys.stderr.write(f"previewing {stack}\n")
        events = preview(stack, HOUSE, [*_options(args, stack), *args.words])
    if args.save_events:
        save(events, Path(args.save_events))
    report = build(stack, read(events))
    if args.json:
        text = json.dumps({"passed": report.passed, **asdict(report)}, indent=2) + "\n"
    else:
        text = (html if args.html else markdown).render(report)
    if args.out:
        Path(args.out).write_text(text)
    else:
        sys.stdout.write(text)
    return 0 if report.passed else 1


def _options(args: argparse.Namespace, stack: str) -> list[str]:
    """The stack's own file, and the rules with what the stack says to them, if the user has named nothing else."""
    options = ["--config-file", args.file] if args.file else []
    return options + (["--policy-pack", args.policy_pack] if args.policy_pack else pack.words(stack, args.words))
