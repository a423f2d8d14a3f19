"""The reference of the stack config: every key with its type, default, meaning and example, from the models."""

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml
from pydantic.fields import FieldInfo

from config import Settings
from config.paths import child, resolve, shape_of
from config.section import Section
from config.settings import WORKER
from config.types.parsed import Parsed
from handbook.wording import BELOW, worded

LONG = 90  # characters of an example that stand in a line
REQUIRED = "**required**"


@dataclass(frozen=True)
class Key:
    """One key as a reader looks for it: `users[].uid`, `partitions.<name>.maxTime`."""

    name: str
    kind: str
    default: str
    about: str
    examples: tuple[Any, ...]

    @property
    def anchor(self) -> str:
        return self.name.replace("<name>", "name").replace("[]", "")


@cache
def keys() -> dict[str, Key]:
    """Every key of the config by its name, in the order of the models."""
    return {key.name: key for key in _below(Settings, "")}


def find(written: str) -> Key | None:
    """The key of the reference that somebody means with `worker.size` or `partitions.main.maxTime`; None if there is
    none."""
    try:
        path, _ = resolve(written, Settings)
    except ValueError:
        return None
    name, shape = "", shape_of(Settings)
    for step in path:
        inside = {"names": ".<name>", "list": "[]"}.get(shape.kind, f".{step}")
        if shape.kind in ("map", "free"):
            break  # what is in there is the user's own
        shape = child(shape, step)
        if shape.kind == "unknown":
            return None
        name = f"{name}{inside}".lstrip(".")
    name = name.replace("nodeSets.<name>.", f"{WORKER}.")
    return keys().get(name) or keys().get(name.removesuffix("[]").removesuffix(".<name>"))


def page() -> str:
    """The reference as Markdown: a heading for each section, and below it one for each key."""
    parts = []
    for key in keys().values():
        section, _, rest = key.name.replace(".<name>", "").partition(".")
        level, label = ("###", rest) if rest else ("##", section)
        heading = f'{level} `{key.name}` {{ #{key.anchor} data-toc-label="{label}" }}'
        parts.append(f"{heading}\n\n{key.about}\n\n{_facts(key)}\n{_example(key)}")
    return "\n".join(parts)


def _below(model: type[Section], prefix: str) -> Iterator[Key]:
    hints = typing.get_type_hints(model, include_extras=True)
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        inside, repeated = _inside(hints[name])
        about = (field.description or "").strip()
        if inside and not prefix and (said := (inside.__doc__ or "").strip()) not in ("", about):
            about += "\n\n" + said
        if key == "nodeSets":
            about += f" Each has the keys of [`{WORKER}`](#{WORKER})."
        yield Key(key, worded(hints[name]), _default(field, inside, repeated), about, tuple(field.examples or ()))
        if inside and key != "nodeSets":
            yield from _below(inside, f"{key}{repeated}.")


def _inside(annotation: Any) -> tuple[type[Section] | None, str]:
    """The section at a type, if there is one, and what stands in its keys for the many that there may be."""
    shape = shape_of(annotation)
    if shape.kind == "section":
        return shape.model, ""
    if shape.kind in ("names", "list"):
        return shape_of(shape.inner).model, ".<name>" if shape.kind == "names" else "[]"
    return None, ""


def _default(field: FieldInfo, inside: type[Section] | None, repeated: str) -> str:
    if field.is_required():
        return REQUIRED
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if inside and not repeated:
        return ""
    return f"`{_flow(value)}`"


def _facts(key: Key) -> str:
    """What is said of a key in one line below its text."""
    facts = [] if key.kind == BELOW else [key.kind]
    facts += [key.default] if key.default in ("", REQUIRED) else [f"default {key.default}"]
    if text := _in_line(key.examples):
        facts.append(f"for example {text}")
    return " · ".join(filter(None, facts)) + "\n{ .facts }" if any(facts) else ""


def _example(key: Key) -> str:
    """A long example, below the text, as it stands in a stack file."""
    if not key.examples or _in_line(key.examples):
        return ""
    last = key.name.rpartition(".")[2].removesuffix("[]")
    text = yaml.dump({last: key.examples[0]}, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)
    return f"\n```yaml\n{text}```\n"


def _in_line(examples: tuple[Any, ...]) -> str:
    """Examples as they stand in a line; nothing if they do not fit in one."""
    text = " or ".join(f"`{_flow(each)}`" for each in examples)
    return "" if "\n" in text or len(text) > LONG else text


def _flow(value: Any) -> str:
    """A value in one line, as YAML."""
    text = yaml.dump(_plain(value), Dumper=_Dumper, default_flow_style=True, sort_keys=False, width=10**6)
    return text.strip().removesuffix("\n...").strip()


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return {
            field.alias or name: _plain(getattr(value, name))
            for name, field in type(value).model_fields.items()
            if name in value.model_fields_set
        }
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Parsed) else value


class _Dumper(yaml.SafeDumper):
    """Scripts as blocks, as somebody would write them."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)
