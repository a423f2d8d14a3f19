"""pydantic's errors in our own words: what is wrong, and what to write instead."""

import difflib
from collections.abc import Iterable

from pydantic_core import ErrorDetails

from config.paths import Path, shape_at
from config.section import Section
from config.types.shown import shown

KEY_OF_A_MAP = "[key]"  # how pydantic marks that a name is wrong and not what stands under it


def place_of(error: ErrorDetails) -> Path:
    """The path that an error is about."""
    return tuple(step for step in error["loc"] if step != KEY_OF_A_MAP)


def worded(error: ErrorDetails, root: type[Section]) -> str:
    """An error as a sentence that follows the key."""
    kind, given, limits = error["type"], error["input"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(place_of(error), root)
    if kind == "missing":
        return _missing(place_of(error), root)
    if kind in _LIMITS:
        return f"{given} is too {_LIMITS[kind][0]}; {_LIMITS[kind][1]} {limits[_LIMITS[kind][2]]} is allowed"
    if kind in _SHAPES:
        return f"{shown(given)} is not {_SHAPES[kind]}"
    if kind == "string_too_long":
        return f"has {len(given)} characters; at most {limits['max_length']} fit"
    if kind == "too_short":
        return "is empty; name at least one, or leave the key out"
    return error["msg"]


_LIMITS = {
    "greater_than_equal": ("small", "at least", "ge"),
    "less_than_equal": ("large", "at most", "le"),
}
_AN_OBJECT = "an object; write keys and values below it, or {key: value}"
_SHAPES = {
    "string_type": "text",
    "list_type": 'a list; write ["a", "b"], or one entry a line with a hyphen',
    "dict_type": _AN_OBJECT,
    "model_type": _AN_OBJECT,
    "model_attributes_type": _AN_OBJECT,
}


def _unknown_key(path: Path, root: type[Section]) -> str:
    *above, key = path
    shape = shape_at(tuple(above), root)
    keys = [field.alias or name for name, field in shape.model.model_fields.items()] if shape.model else []
    where = f"; those of `{'.'.join(map(str, above))}` are" if above else "; there are"
    return f"`{key}` is not a setting" + (did_you_mean(str(key), keys) or f"{where} {', '.join(keys)}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A guess at what was meant, as the end of a sentence; nothing if there is no good one."""
    folded = {each.lower().replace("_", "").replace("-", ""): each for each in known}
    close = difflib.get_close_matches(word.lower().replace("_", "").replace("-", ""), folded, n=1, cutoff=0.6)
    return f"; did you mean `{folded[close[0]]}`?" if close else ""


def _missing(path: Path, root: type[Section]) -> str:
    parent = shape_at(path[:-1], root)
    fields = parent.model.model_fields.values() if parent.model else ()
    about = next((f" ({field.description})" for field in fields if field.alias == path[-1] and field.description), "")
    return f"is missing{about.replace('.)', ')')}; set it{_example(path, root)}"


def _example(path: Path, root: type[Section]) -> str:
    parent = shape_at(path[:-1], root)
    for field in parent.model.model_fields.values() if parent.model else ():
        if field.alias == path[-1] and field.examples:
            return f", for example {field.examples[0]}"
    return ""
