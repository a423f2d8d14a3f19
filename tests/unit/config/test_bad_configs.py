"""Every way of getting a config wrong that we know of: each is refused, with its key and what to do about it."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from config import ConfigProblems, Settings, checks
from config.checks import CHECKS, Finding
from config.images import ROLES
from operations import cli
from tests.unit.config import bad_sections, bad_slurm, bad_values

LAB = {f"SLIPWAY_{role.upper()}_IMAGE": f"localhost/{role}:1" for role in ROLES}
BAD = [*bad_values.BAD, *bad_sections.BAD, *bad_slurm.BAD]

Config = dict[str, Any]


def load(config: Config) -> Settings:
    """As the engine hands it over."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    return Settings.load({f"slipway:{key}": text for key, text in texts.items()}, LAB)


@pytest.mark.parametrize(("config", "key", "fragment"), BAD, ids=[f"{n:03}-{row[1][:40]}" for n, row in enumerate(BAD)])
def test_a_bad_config_is_refused_with_its_key_and_what_to_do(config: Config, key: str, fragment: str) -> None:
    with pytest.raises(ConfigProblems) as raised:
        load(config)
    found = [problem for problem in raised.value.problems if fragment in problem.message]
    assert [problem.key for problem in found] == [f"slipway:{key}"], str(raised.value)
    assert "Input should" not in str(raised.value), "pydantic's words, not ours"
    assert len(found[0].message) < 250, "a message is read at a glance"
    assert not any(character in found[0].message for character in "\n\r\0"), "a message is one line"


@pytest.mark.parametrize(("config", "key", "fragment"), BAD, ids=[f"{n:03}-{row[1][:40]}" for n, row in enumerate(BAD)])
def test_a_single_mistake_is_a_single_problem(config: Config, key: str, fragment: str) -> None:
    with pytest.raises(ConfigProblems) as raised:
        load(config)
    assert len(raised.value.problems) == 1, str(raised.value)


@pytest.mark.parametrize(("config", "key", "fragment"), BAD, ids=[f"{n:03}-{row[1][:40]}" for n, row in enumerate(BAD)])
def test_no_bad_config_reaches_the_renderer(
    config: Config, key: str, fragment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def reached(*_: object, **__: object) -> None:
        pytest.fail("the renderer was reached")

    monkeypatch.setattr(cli, "render", reached)
    file = tmp_path / "Pulumi.bad.yaml"
    file.write_text(json.dumps({"config": {f"slipway:{key}": value for key, value in config.items()}}))  # YAML too
    monkeypatch.setattr("sys.argv", ["slipway", "render", "--file", str(file), "--out", str(tmp_path / "out")])
    assert cli.main() == 1
    said = capsys.readouterr().err
    assert fragment in said
    assert f"slipway:{key}: " in said
    assert not (tmp_path / "out").exists()


def test_every_check_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name for module in _modules() for name in _checks_of(module)}
    assert found == {f"{check.__module__}.{check.__name__}" for check in CHECKS}  # type: ignore[attr-defined]
    called: list[int] = []
    spies = tuple(lambda settings, number=number: called.append(number) or () for number in range(len(CHECKS)))
    monkeypatch.setattr("config.loading.CHECKS", spies)
    load({})
    assert called == list(range(len(CHECKS)))


def test_every_check_finds_something_in_some_bad_config(monkeypatch: pytest.MonkeyPatch) -> None:
    fired: set[str] = set()

    def spy(check: Any) -> Any:
        def run(settings: Settings) -> Iterable[Finding]:
            findings = list(check(settings))
            if findings:
                fired.add(check.__name__)
            return findings

        return run

    monkeypatch.setattr("config.loading.CHECKS", tuple(map(spy, CHECKS)))
    for config, _, _ in BAD:
        with pytest.raises(ConfigProblems):
            load(config)
    assert fired == {check.__name__ for check in CHECKS}  # type: ignore[attr-defined]


def _modules() -> Iterator[Any]:
    for name in vars(checks):
        module = getattr(checks, name)
        if getattr(module, "__name__", "").startswith("config.checks.") and hasattr(module, "__file__"):
            yield module


def _checks_of(module: Any) -> Iterator[str]:
    for name, value in vars(module).items():
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
            arguments = getattr(value, "__annotations__", {})
            if arguments.get("settings") is Settings:
                yield f"{module.__name__}.{name}"
