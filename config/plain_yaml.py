"""YAML as the Pulumi engine reads it: in a stack file, and in text that stands for something else than text."""

import re
from typing import Any

import yaml


class Loader(yaml.SafeLoader):
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
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"(?:{pattern})$"), [*first])


_resolve("merge", "<<", "<")
_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("int", r"[-+]?(?:0|[1-9][0-9_]*|0o?[0-7]+|0x[0-9a-fA-F]+)", "-+0123456789")
_resolve("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+", "-+.0123456789")
_resolve("null", "~|null|Null|NULL", "~nN")
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("$"), [""])


class _Flat(Loader):
    """One value is not a document: nothing in it refers to anything else."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def container(text: str) -> dict[Any, Any] | list[Any] | None:
    """The object or list that a text stands for; None if it stands for neither."""
    try:
        found = yaml.load(text, _Flat)  # noqa: S506 -- a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def scalar(text: str) -> Any:
    """What a text stands for that is a plain value: a number, a switch, nothing, or itself."""
    loader = Loader("")
    try:
        return loader.construct_object(yaml.ScalarNode(loader.resolve(yaml.ScalarNode, text, (True, False)), text))
    except (yaml.YAMLError, ValueError):
        return text
