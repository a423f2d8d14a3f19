"""Reading a `Pulumi.<stack>.yaml` without the engine, and seeing in it what the engine would see."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from config.loading import load_entries
from config.paths import Path as Steps
from config.paths import spelled
from config.problems import ConfigProblems, Problem
from config.settings import Settings

SECURE = "secure"  # how Pulumi marks an encrypted value


def load_stack_file(path: Path, project: str = "slipway") -> Settings:
    """Settings from a stack file. Raises ConfigProblems; OSError if the file cannot be read."""
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
    return load_entries(entries, problems, f"{project}:")


def _parted(key: str) -> tuple[str, str]:
    """Namespace and name: a key without a namespace belongs to the project, a name may have colons of its own
    (`GRES/gpu:a100`), and `slipway:config:x` is what Pulumi once wrote for `slipway:x`."""
    namespace, colon, name = key.partition(":")
    return (namespace, name.removeprefix("config:")) if colon else ("", key)


def _config(path: Path) -> dict[str, Any]:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 -- a SafeLoader
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigProblems([Problem(path.name, f"is not YAML: {' '.join(str(error).split())}")]) from None
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


class _Loader(yaml.SafeLoader):
    """Plain values as the engine reads them: `NO`, `24:00:00` and `2030-01-01` are text, `0777` is octal; and a key
    that is there twice is an error."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 -- declared so by the base class

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"`{key.value}` is there twice", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def _resolve(kind: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"(?:{pattern})$"), [*first])


_resolve("merge", "<<", "<")
_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("int", r"[-+]?(?:0|[1-9][0-9_]*|0o?[0-7]+|0x[0-9a-fA-F]+)", "-+0123456789")
_resolve("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+", "-+.0123456789")
_resolve("null", "~|null|Null|NULL", "~nN")
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("$"), [""])
