"""Free text that ends up in a rendered file, kept to what cannot break out of its line."""

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from config.types.scalars import String

# In slurm.conf a # starts a comment, a " ends a quoted value and a \ at the end joins the next line.
_BREAKOUTS = '#"\\'

# Cc: control; Zl and Zp: line and paragraph separators; Cs: halves of characters; Bidi controls hide what is written.
_FORBIDDEN = {"Cc", "Zl", "Zp", "Cs"}
_BIDI = set("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def unsafe_character(text: str) -> str | None:
    """The name of the first character that could start a new line or disguise one, if there is any."""
    if text.isprintable():  # nothing that is looked for below is printable, and almost all text is
        return None
    for character in text:
        if unicodedata.category(character) in _FORBIDDEN or character in _BIDI:
            return {"\n": "a line break", "\r": "a carriage return", "\t": "a tab", "\0": "a NUL"}.get(
                character, f"the character U+{ord(character):04X}"
            )
    return None


def _safe(text: str) -> str:
    if not text:
        raise PydanticCustomError("slipway", "is empty; leave the key out instead", {})
    if text != text.strip():
        raise PydanticCustomError("slipway", "begins or ends with a space; take it away", {})
    if found := unsafe_character(text):
        raise PydanticCustomError("slipway", "contains {found}, which is not allowed here", {"found": found})
    if found := next((each for each in text if unicodedata.category(each) == "Zs" and each != " "), None):
        message = "contains a blank other than a space (U+{code}), which nobody sees and Slurm may take for an end"
        raise PydanticCustomError("slipway", message, {"code": f"{ord(found):04X}"})
    for character in _BREAKOUTS:
        if character in text:
            raise PydanticCustomError(
                "slipway", "contains {found}, which would end the value in Slurm's files", {"found": character}
            )
    return text


def _flat(value: Any) -> Any:
    """Slurm writes lists with commas and switches as yes and no; numbers keep their digits."""
    if isinstance(value, list | tuple) and all(isinstance(each, str | int | float) for each in value):
        return ",".join(_flat(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int | float) else value


def one_line(text: str) -> str:
    """A script without what may be in it and nowhere else."""
    return text.replace("\n", " ").replace("\t", " ")


def _script(text: str) -> str:
    """A file of its own, so that lines and tabs may be in it; it ends as files do."""
    if not text.strip():
        raise PydanticCustomError("slipway", "is empty; leave the key out instead", {})
    if found := unsafe_character(one_line(text)):
        raise PydanticCustomError("slipway", "contains {found}, which is not allowed here", {"found": found})
    return text.rstrip("\n") + "\n"


# A program in a file of its own. All of Slurm's files together fit in a ConfigMap of 1 MiB.
Script = Annotated[String, AfterValidator(_script), Field(max_length=256 * 1024)]

Text = Annotated[String, AfterValidator(_safe), Field(max_length=1024)]

# The value of any Slurm key: text, a number, a switch, or a list of them.
SlurmValue = Annotated[
    str,
    Field(max_length=16384),
    AfterValidator(_safe),
    BeforeValidator(_flat),
    WithJsonSchema({"type": ["string", "number", "boolean", "array"]}),
]
