"""Which Python runs a program: the options in Pulumi.yaml and the files beside it, read as the official host does.

Unlike the official host, this one never creates an environment and never installs into one.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

_TOOLCHAINS = ("pip", "uv", "poetry")


class EnvironmentUnusableError(Exception):
    """The environment that the options ask for cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Environment:
    """A Python interpreter, and the virtual environment it belongs to, if any."""

    python: Path
    virtualenv: Path | None = None

    def variables(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` as it would be after `source bin/activate`."""
        result = dict(base)
        if self.virtualenv:
            result.pop("PYTHONHOME", None)
            result["VIRTUAL_ENV"] = str(self.virtualenv)
            result["PATH"] = os.pathsep.join(filter(None, (str(self.virtualenv / "bin"), base.get("PATH"))))
        return result

    def about(self) -> tuple[str, str]:
        """(path, version) of the interpreter."""
        path, version, _ = self._ask()
        return path, version

    def packages(self, *, transitive: bool) -> list[tuple[str, str]]:
        """(name, version) of what is installed; without `transitive` only what no other package asks for."""
        installed = {_normal(found.name): found for found in self._distributions()}
        required = set() if transitive else {name for found in installed.values() for name in _requires(found)}
        return sorted((name, found.version) for name, found in installed.items() if name not in required)

    def plugins(self) -> list[tuple[str, str, str]]:
        """(name, version, server) of the resource plugins that the installed packages say they need."""
        found: list[tuple[str, str, str]] = []
        for directory in self._site_packages():
            for file in sorted(directory.glob("*/pulumi-plugin.json")):
                plugin = json.loads(file.read_text())
                name, version = plugin.get("name"), plugin.get("version")
                if plugin.get("resource") and name and version:
                    found.append((name, version, plugin.get("server", "")))
        return found

    def _distributions(self) -> Iterator[Distribution]:
        yield from distributions(path=[str(directory) for directory in self._site_packages()])

    def _site_packages(self) -> list[Path]:
        if self.virtualenv:
            return sorted((self.virtualenv / "lib").glob("python3*/site-packages"))
        return [Path(self._ask()[2])]

    def _ask(self) -> tuple[str, str, str]:
        question = (
            "import sys,sysconfig;print(sys.executable,sys.version.split()[0],sysconfig.get_path('purelib'),sep='\\n')"
        )
        answer = subprocess.run(
            [self.python, "-c", question], env=self.variables(os.environ), capture_output=True, text=True, check=False
        )
        if answer.returncode != 0:
            raise EnvironmentUnusableError(f"{self.python} does not run: {answer.stderr.strip()}")
        path, version, site_packages = answer.stdout.splitlines()[:3]
        return path, version, site_packages


def choose(root: Path, program: Path, options: Mapping[str, Any]) -> Environment:
    """The environment for the program in `program` of the project in `root`, checked to be there."""
    for name in ("virtualenv", "toolchain"):
        if not isinstance(options.get(name, ""), str):
            raise EnvironmentUnusableError(f"the option `{name}` under `runtime` must be a string")
    virtualenv, toolchain = options.get("virtualenv", ""), options.get("toolchain", "")
    if toolchain and toolchain not in _TOOLCHAINS:
        raise EnvironmentUnusableError(f"the option `toolchain` is {toolchain!r}; it can be {', '.join(_TOOLCHAINS)}")
    if toolchain == "poetry" or (not toolchain and not _above(program, "uv.lock") and _above(program, "poetry.lock")):
        return _checked(_ask_poetry(program), "poetry chose", "`poetry install`")
    if toolchain == "uv" or (not toolchain and _above(program, "uv.lock")):
        path = root / virtualenv if virtualenv else _uv_default(program)
        return _checked(path, "with uv the environment is", "`uv sync`")
    if virtualenv:
        path = root / virtualenv
        way_out = f"`python3 -m venv {path}` and `{path}/bin/python -m pip install -r requirements.txt`"
        return _checked(path, f"the option `virtualenv` under `runtime` is {virtualenv!r}, that is", way_out)
    return _on_path()


def _checked(path: Path, why: str, way_out: str) -> Environment:
    python = path / "bin" / "python"
    if python.is_file():
        return Environment(python, path)
    problem = "is not a virtual environment" if path.exists() else "does not exist"
    raise EnvironmentUnusableError(f"{why} {path}, which {problem}. Create it with {way_out}, or change the option.")


def _uv_default(program: Path) -> Path:
    """Where uv puts a project's environment: beside the nearest uv.lock, else the nearest pyproject.toml."""
    project = _above(program, "uv.lock") or _above(program, "pyproject.toml") or program
    return project / (os.environ.get("UV_PROJECT_ENVIRONMENT") or ".venv")


def _ask_poetry(program: Path) -> Path:
    if not shutil.which("poetry"):
        raise EnvironmentUnusableError("the project uses poetry, but there is no `poetry` on PATH")
    answer = subprocess.run(
        ["poetry", "env", "info", "--path"], cwd=program, capture_output=True, text=True, check=False
    )
    if answer.returncode != 0 or not answer.stdout.strip():
        raise EnvironmentUnusableError(
            f"`poetry env info --path` in {program} names no environment: run `poetry install`"
        )
    return Path(answer.stdout.strip())


def _on_path() -> Environment:
    names = [os.environ["PULUMI_PYTHON_CMD"]] if os.environ.get("PULUMI_PYTHON_CMD") else ["python3", "python"]
    for name in names:
        if found := shutil.which(name):
            return Environment(Path(found))
    raise EnvironmentUnusableError(
        f"there is no {' or '.join(names)} on PATH, and no `virtualenv` option under `runtime`"
    )


def _above(directory: Path, name: str) -> Path | None:
    """The nearest of `directory` and its parents that has the file `name`."""
    for candidate in (directory, *directory.parents):
        if (candidate / name).exists():
            return candidate
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requires(found: Distribution) -> Iterator[str]:
    """Names that `found` asks for, without those of its extras."""
    for requirement in found.requires or []:
        match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
        if match and "extra ==" not in requirement:
            yield _normal(match.group())
