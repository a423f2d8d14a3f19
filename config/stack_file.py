"""Reading a `Pulumi.<stack>.yaml` without the engine, and seeing in it what the engine would see."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from config.loading import load_entries
from config.paths import Path as Steps
from config.paths import spelled
from config.plain_yaml import Loader
from config.problems import ConfigProblems, Problem
from config.settings import Settings

SECURE = "secure"  # how Pulumi marks an encrypted value


def load_stack_file(path: Path, environment: Mapping[str, str] | None = None, project: str = "slipway") -> Settings:
    """Settings from a stack file, with what the lab fills in. Raises ConfigProblems; OSError if it cannot be read."""
    config = _config(path)
    entries: dict[str, Any] = {}
    written: dict[str, str] = {}  # names to keys as they stand in the file
    problems: list[Problem] = []
    for key, value in config.items():
        namespace, name = _parted(key)
        if namespace not in ("", project):
            continue
        hidden = list(_secrets(value, (name,)))
        problems += [
            Problem(f"{project}:{spelled(steps)}", "is encrypted, and only the Pulumi engine can read it")
            for steps in hidden
        ]
        if written.setdefault(name, key) != key:
            problems.append(Problem(key, f"means the same as `{written[name]}`; keep one of them"))
        elif not hidden:
            entries[name] = value
    return load_entries(entries, problems, f"{project}:", environment)


def _parted(key: str) -> tuple[str, str]:
    """Namespace and name: a key without a namespace belongs to the project, a name may have colons of its own
    (`GRES/gpu:a100`), and `slipway:config:x` is what Pulumi once wrote for `slipway:x`."""
    namespace, colon, name = key.partition(":")
    return (namespace, name.removeprefix("config:")) if colon else ("", key)


def _config(path: Path) -> dict[str, Any]:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506 -- a SafeLoader
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigProblems([Problem(path.name, f"is not YAML: {' '.join(str(error).split())}")]) from None
    except RecursionError:
        raise ConfigProblems([Problem(path.name, "is nested too deeply to be read")]) from None
    config = {} if document is None else document.get("config") if isinstance(document, dict) else document
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise ConfigProblems([Problem(path.name, "is not a stack file; it has no `config:` with keys below it")])
    return {str(key): value for key, value in config.items()}


def _secrets(value: Any, path: Steps) -> Iterator[Steps]:
    """Where encrypted values are."""
    if isinstance(value, dict):
        if list(value) == [SECURE]:
            yield path
            return
        for name, member in value.items():
            yield from _secrets(member, (*path, str(name)))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _secrets(member, (*path, index))
