"""`slipway report` as people and workflows call it."""

import json
import os
import sys
from pathlib import Path

import pytest

from operations import cli
from operations.pack import PACK
from operations.report import command
from slurm.planning.told import ASKED

RECORDED = Path(__file__).parent / "recorded"
# Writes down how it was called, and tells what was recorded.
PULUMI = """\
#!/bin/sh
[ "$1" = stack ] && echo chosen && exit
echo "$*" > {log}
echo "${asked}$PULUMI_DEBUG_COMMANDS" >> {log}
while [ $# -gt 0 ]; do [ "$1" = --event-log ] && cp {recorded} "$2"; shift; done
echo "what people see"; echo "what went wrong" >&2
exit {rc}
"""


@pytest.fixture
def slipway(monkeypatch: pytest.MonkeyPatch):
    def call(*words: str | Path) -> int:
        monkeypatch.setattr(sys, "argv", ["slipway", "report", *map(str, words)])
        return cli.main()

    return call


@pytest.fixture
def pulumi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A `pulumi` that tells what was recorded."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(command, "HOUSE", tmp_path)

    def install(recorded: str, rc: int = 0) -> Path:
        log = tmp_path / "called"
        names = {"log": log, "recorded": RECORDED / f"{recorded}.jsonl", "rc": rc, "asked": ASKED}
        program = tmp_path / "pulumi"
        program.write_text(PULUMI.format(**names))
        program.chmod(0o755)
        return log

    return install


@pytest.mark.parametrize(
    ("name", "code"), [("scale-out", 0), ("image-upgrade", 0), ("refused", 1), ("policy-violation", 1)]
)
def test_the_exit_code_says_whether_it_may_go_on(slipway, capsys, name: str, code: int) -> None:
    assert slipway("--stack", "dev", "--events", RECORDED / f"{name}.jsonl") == code
    assert capsys.readouterr().out.startswith("<!-- slipway-report: dev -->\n## ")


def test_a_preview_is_made_with_the_engines_log_and_all_options(slipway, pulumi, capsys) -> None:
    log = pulumi("scale-out")
    assert slipway("--stack", "dev", "--file", "x.yaml", "--refresh") == 0
    called, environment = log.read_text().splitlines()
    assert called.startswith("preview --non-interactive --color=never --stack dev --event-log ")
    assert " --config-file x.yaml --policy-pack " in called
    assert called.endswith(" --refresh")
    assert environment == "1true"
    assert "one reconfigure" in capsys.readouterr().out


def test_the_rules_are_run_with_what_the_stack_says_to_them(slipway, pulumi, tmp_path: Path) -> None:
    log = pulumi("scale-out")
    pack = PACK
    assert slipway("--stack", "organization/slipway/dev", "--out", tmp_path / "report.md") == 0
    assert f"--policy-pack {pack} --policy-pack-config {pack}/stacks/dev.json" in log.read_text()
    assert slipway("--stack", "dev", "--out", tmp_path / "report.md", "--policy-pack-config", "mine.json") == 0
    assert f"--policy-pack {pack} --policy-pack-config mine.json" in log.read_text()
    assert slipway("--stack", "dev", "--out", tmp_path / "report.md", "--policy-pack", "other") == 0
    assert "--policy-pack other" in log.read_text()


def test_what_was_kept_gives_the_same_report_again(slipway, pulumi, tmp_path: Path) -> None:
    pulumi("refused", rc=255)
    events, one, two = (tmp_path / name for name in ("events.jsonl", "one.md", "two.md"))
    assert slipway("--stack", "dev", "--save-events", events, "--out", one) == 1
    assert slipway("--stack", "dev", "--events", events, "--out", two) == 1
    assert one.read_text() == two.read_text()
    assert events.stat().st_mode & 0o077 == 0


def test_a_pulumi_that_fails_at_once_is_reported_with_its_own_words(slipway, pulumi, capsys) -> None:
    pulumi("none", rc=255)
    assert slipway() == 1
    written = capsys.readouterr().out
    assert "`chosen`: the preview failed" in written
    assert "what went wrong\nwhat people see" in written


def test_programs_are_told_the_same_as_data(slipway, capsys) -> None:
    assert slipway("--stack", "dev", "--events", RECORDED / "refused.jsonl", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["plan_class"]) == (False, "refused")


def test_a_page_goes_to_a_file(slipway, tmp_path: Path) -> None:
    assert (
        slipway("--stack", "dev", "--events", RECORDED / "refused.jsonl", "--html", "--out", tmp_path / "r.html") == 1
    )
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("text", ["no json\n{}\n", "[]\n"])
def test_a_file_that_is_no_log_is_told_without_a_traceback(slipway, capsys, tmp_path: Path, text: str) -> None:
    (tmp_path / "events").write_text(text)
    assert slipway("--stack", "dev", "--events", tmp_path / "events") == 1
    assert "line 1: is no event of the engine" in capsys.readouterr().err


def test_a_log_that_was_cut_short_is_read_as_far_as_it_goes(slipway, capsys, tmp_path: Path) -> None:
    (tmp_path / "events").write_text(json.dumps({"preludeEvent": {}}) + '\n{"summaryEv')
    assert slipway("--stack", "dev", "--events", tmp_path / "events") == 1
    assert "the preview failed" in capsys.readouterr().out
