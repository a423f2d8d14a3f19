"""Previews and updates never go without the rules."""

import subprocess
import sys
from pathlib import Path

import pytest

from operations import administration, cli, pack


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack with a config for one stack."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "prod.json").write_text("{}")
    monkeypatch.setattr(pack, "PACK", tmp_path)
    return tmp_path


def test_a_stack_without_a_config_of_its_own_has_the_defaults(house: Path) -> None:
    assert pack.words("dev", ["--yes"]) == ["--policy-pack", str(house)]


@pytest.mark.parametrize("stack", ["prod", "organization/slipway/prod"])
def test_a_stacks_own_config_is_used(house: Path, stack: str) -> None:
    config = str(house / "stacks" / "prod.json")
    assert pack.words(stack, []) == ["--policy-pack", str(house), "--policy-pack-config", config]


@pytest.mark.parametrize("given", [["--policy-pack-config", "mine.json"], ["--policy-pack-config=mine.json"]])
def test_a_config_that_the_user_names_comes_first(house: Path, given: list[str]) -> None:
    assert pack.words("prod", given) == ["--policy-pack", str(house)]


def test_a_preview_hands_on_what_pulumi_knows(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[list[str]] = []

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        runs.append(argv)
        return subprocess.CompletedProcess(argv, 3)

    monkeypatch.setattr(administration.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["slipway", "preview", "--stack", "dev", "--file", "x.yaml", "--diff"])
    assert cli.main() == 3
    pulumi = ["pulumi", "preview", "--stack", "dev", "--policy-pack", str(house)]
    assert runs == [[*pulumi, "--config-file", "x.yaml", "--diff"]]
