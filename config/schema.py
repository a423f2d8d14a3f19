"""The JSON Schema of a stack file, so that editors complete and check it while it is written.

`python -m config.schema > config/schema.json` after a change of the models; a test says so if it was forgotten.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from config.loading import PREFIX
from config.settings import Settings
from config.types.parsed import Parsed

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_WORDS = {"ge": "minimum", "le": "maximum"}  # what pydantic leaves untranslated behind a validator
_BY_NAME = ("properties", "patternProperties", "$defs")  # what is below is named by us, and not by JSON Schema
_VERBATIM = ("default", "examples", "propertyNames", "required")
_QUOTED = {"integer": r"^[-+]?[0-9]+$", "boolean": r"^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}
_INDEX = r"(\.[0-9]+|\[[0-9]+\])"
_NAME = r"(\.[^.\[\]]+|\[\"[^\"]+\"\])"
_KEY = r"(\..+|\[\"[^\"]+\"\])"


def schema() -> Schema:
    """The schema of a whole `Pulumi.<stack>.yaml`, with every setting nested and as a dotted key."""
    settings = _as_read(_tidy(Settings.model_json_schema(by_alias=True, schema_generator=_WithDefaults)))
    defs: dict[str, Schema] = settings["$defs"]
    nested = {f"{PREFIX}{key}": each for key, each in settings["properties"].items()}
    bare = {f"^{key}$": each for key, each in settings["properties"].items()}  # Pulumi adds the project's name itself
    dotted = {
        f"^({re.escape(PREFIX)})?{pattern}$": _or_text(each)
        for key, section in settings["properties"].items()
        for pattern, each in _below(section, key, defs)
    }
    config = {
        "type": "object",
        "description": "The stack's config. Keys of other packages are theirs.",
        "properties": nested,
        "patternProperties": {**bare, **dotted, f"^(?!{re.escape(PREFIX)})[^:]+:": {}},
        "additionalProperties": False,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A Slipway stack file",
        "type": "object",
        "properties": {
            "config": config,
            "encryptionsalt": _TEXT,
            "encryptedkey": _TEXT,
            "secretsprovider": _TEXT,
            "environment": {},
        },
        "additionalProperties": False,
        "$defs": defs,
    }


def text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"


def _below(each: Schema, pattern: str, defs: dict[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """Every dotted key below a setting, as a pattern, and what it may be set to."""
    inside = defs[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
    members: list[tuple[str, Schema]] = [
        (rf"{pattern}\.{re.escape(key)}", member) for key, member in inside.get("properties", {}).items()
    ]
    maps = list(inside.get("patternProperties", {}).values())
    maps += [inside["additionalProperties"]] if isinstance(inside.get("additionalProperties"), dict) else []
    maps += [{}] if inside.get("additionalProperties") is True else []
    for member in maps:
        named = "$ref" in member  # names have no dots; the keys of plain maps, such as labels, may
        members.append((pattern + (_NAME if named else _KEY), member))
    if isinstance(inside.get("items"), dict):
        members.append((pattern + _INDEX, inside["items"]))
    for path, member in members:
        yield path, member
        yield from _below(member, path, defs)


def _or_text(each: Schema) -> Schema:
    """`pulumi config set` writes text, whatever is meant."""
    if "string" in each.get("type", ()) or not each:
        return each
    about = {key: each[key] for key in ("description", "default", "examples") if key in each}
    return {"anyOf": [{key: value for key, value in each.items() if key not in about}, _TEXT], **about}


def _as_read(each: Any) -> Any:
    """What the models read beside the canonical form: quoted numbers and switches, words in any case, numbers where a
    text may be one, and nothing at all after a key with others below it."""
    if isinstance(each, list):
        return [_as_read(member) for member in each]
    if not isinstance(each, dict):
        return each
    made: Schema = {}
    for key, value in each.items():
        if key in _BY_NAME:
            made[key] = {name: _as_read(member) for name, member in value.items()}
        else:
            made[key] = value if key in _VERBATIM else _as_read(value)
    kind = made.get("type")
    if isinstance(kind, str) and kind in _QUOTED:
        made |= {"type": [kind, "string"], "pattern": _QUOTED[kind]}
    elif kind == "object":
        made["type"] = ["object", "null"]
    elif kind == "string" and "enum" in made:
        words = made.pop("enum")
        del made["type"]
        made["anyOf"] = [{"enum": words}, {"type": "string", "pattern": _in_any_case(words)}]
    elif kind == "string" and re.search(made.get("pattern", ""), "123"):
        made["type"] = ["string", "integer"]
    return made


def _in_any_case(words: list[str]) -> str:
    folded = ("".join(f"[{char.upper()}{char.lower()}]" if char.isalpha() else char for char in word) for word in words)
    return f"^({'|'.join(folded)})$"


class _WithDefaults(GenerateJsonSchema):
    """Defaults as a user would write them."""

    def encode_default(self, dft: Any) -> Any:
        return str(dft) if isinstance(dft, Parsed) else super().encode_default(dft)


def _tidy(each: Any) -> Any:
    """Without titles that repeat the key, without "or null", and without defaults that the section states itself."""
    if isinstance(each, list):
        return [_tidy(member) for member in each]
    if not isinstance(each, dict):
        return each
    made: Schema = {}
    for key, value in each.items():
        if key in _BY_NAME:
            made[key] = {name: _tidy(member) for name, member in value.items()}
        elif (key == "default" and (value is None or isinstance(value, dict))) or key == "title":
            continue
        else:
            made[_WORDS.get(key, key)] = value if key in ("examples", "default") else _tidy(value)
    if {"type": "null"} in made.get("anyOf", []):
        [option] = [option for option in made.pop("anyOf") if option != {"type": "null"}]
        made = {**option, **made}
    if "patternProperties" in made:
        made.setdefault("additionalProperties", False)
    return made


if __name__ == "__main__":
    sys.stdout.write(text())
