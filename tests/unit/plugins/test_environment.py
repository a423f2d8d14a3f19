"""Which Python the language host chooses for a program."""

import os
import sys
from pathlib import Path

import pytest

from lab.plugins.language.environment import Environment, EnvironmentUnusableError, choose


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_PROJECT_ENVIRONMENT", "PULUMI_PYTHON_CMD"):
        monkeypatch.delenv(name, raising=False)


def _environment(path: Path) -> Path:
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").symlink_to(sys.executable)
    return path


def test_the_virtualenv_option_is_relative_to_the_project(tmp_path: Path) -> None:
    path = _environment(tmp_path / "deploy" / "env")
    program = tmp_path / "src"
    assert choose(tmp_path, program, {"virtualenv": "deploy/env"}) == Environment(path / "bin/python", path)
    assert choose(tmp_path / "elsewhere", program, {"virtualenv": str(path)}).virtualenv == path
    assert choose(tmp_path, program, {"virtualenv": "deploy/env", "toolchain": "pip"}).virtualenv == path


def test_uv_uses_the_environment_beside_the_lock_or_the_one_that_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "infra"
    program.mkdir()
    own = _environment(program / ".venv")
    assert choose(program, program, {"toolchain": "uv"}).virtualenv == own
    shared = _environment(tmp_path / ".venv")
    (tmp_path / "uv.lock").touch()
    assert choose(program, program, {"toolchain": "uv"}).virtualenv == shared
    assert choose(program, program, {}).virtualenv == shared
    assert choose(program, program, {"virtualenv": ".venv"}).virtualenv == own
    other = _environment(tmp_path / "other")
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", "other")
    assert choose(program, program, {}).virtualenv == other


def test_poetry_is_asked_for_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _environment(tmp_path / "cache" / "env")
    poetry = tmp_path / "bin" / "poetry"
    poetry.parent.mkdir()
    poetry.write_text(f"#!/bin/sh\necho {path}\n")
    poetry.chmod(0o755)
    monkeypatch.setenv("PATH", str(poetry.parent))
    assert choose(tmp_path, tmp_path, {"toolchain": "poetry"}).virtualenv == path
    (tmp_path / "poetry.lock").touch()
    assert choose(tmp_path, tmp_path, {}).virtualenv == path
    poetry.unlink()
    with pytest.raises(EnvironmentUnusableError, match="no `poetry` on PATH"):
        choose(tmp_path, tmp_path, {})


def test_without_options_it_is_the_python_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _environment(tmp_path / "env")
    (path / "bin" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(path / "bin"))
    assert choose(tmp_path, tmp_path, {}) == Environment(path / "bin" / "python3")
    monkeypatch.setenv("PULUMI_PYTHON_CMD", "python")
    assert choose(tmp_path, tmp_path, {}) == Environment(path / "bin" / "python")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentUnusableError, match="there is no python on PATH"):
        choose(tmp_path, tmp_path, {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"virtualenv": "nowhere"}, "which does not exist. Create it with `python3 -m venv"),
        ({"virtualenv": "."}, "which is not a virtual environment"),
        ({"toolchain": "uv"}, "Create it with `uv sync`"),
        ({"toolchain": "conda"}, "it can be pip, uv, poetry"),
        ({"virtualenv": 1}, "`virtualenv` under `runtime` must be a string"),
    ],
)
def test_what_cannot_be_used_is_named_with_the_way_out(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(EnvironmentUnusableError, match=message):
        choose(tmp_path, tmp_path, options)


def test_an_environment_is_activated_as_its_own_script_would(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "bin" / "python", tmp_path)
    base = {"PATH": "/usr/bin", "PYTHONHOME": "/opt", "VIRTUAL_ENV": "/other", "HOME": "/root"}
    assert environment.variables(base) == {
        "PATH": f"{tmp_path}/bin{os.pathsep}/usr/bin",
        "VIRTUAL_ENV": str(tmp_path),
        "HOME": "/root",
    }
    assert Environment(Path("/usr/bin/python3")).variables(base) == base


def test_installed_packages_and_the_plugins_they_need_are_listed() -> None:
    ours = Environment(Path(sys.executable), Path(sys.prefix))
    assert {"command", "kubernetes"} <= {name for name, _, _ in ours.plugins()}
    everything = dict(ours.packages(transitive=True))
    assert {"pulumi", "pulumi-command", "pulumi-policy", "grpcio"} <= set(everything)
    assert "pulumi" not in dict(ours.packages(transitive=False))
