"""Numbers, switches, strings and choices, read the way YAML reads them and no looser.

Everything that arrives through a dotted key is a string, so "4" must do for 4 and "true" for true; but `true` is not 1,
and a version such as 1.10 must not silently become the string "1.1".
"""

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from config.plain_yaml import scalar
from config.types.shown import shown

_LONGEST = 20  # characters of a number that any setting could want


def refuse(value: object, wants: str) -> PydanticCustomError:
    """An error that says what was written and what is wanted instead."""
    return PydanticCustomError("slipway", "{value} is not {wants}", {"value": shown(value), "wants": wants})


def _integer(value: Any) -> Any:
    said = scalar(value) if isinstance(value, str) and len(value) <= _LONGEST else value
    if isinstance(said, int) and not isinstance(said, bool):
        return said
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise refuse(value, "a whole number")


def _switch(value: Any) -> Any:
    said = value.lower() if isinstance(value, str) else value
    if said is True or said == "true":
        return True
    if said is False or said == "false":
        return False
    raise refuse(value, "true or false")


def _string(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        raise PydanticCustomError(
            "slipway", "{value} reads as a number and loses its exact spelling; write it in quotes", {"value": value}
        )
    return value


# What a dotted key can only say as text may be written as text anywhere.
Integer = Annotated[int, BeforeValidator(_integer)]
Count = Annotated[Integer, Field(ge=0)]
Port = Annotated[Integer, Field(ge=1, le=65535)]
Switch = Annotated[bool, BeforeValidator(_switch)]
String = Annotated[str, BeforeValidator(_string)]


class Choice:
    """For `Annotated[Literal[…], Choice()]`: one of a few words, in any case.

    YAML's older readers take a bare NO or OFF for false, so false means them where they exist."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        words: tuple[str, ...] = get_args(source)
        by_folded = {word.lower(): word for word in words}
        plain = {True: by_folded.get("yes", by_folded.get("on")), False: by_folded.get("no", by_folded.get("off"))}

        def pick(value: Any) -> str:
            word = plain[value] if isinstance(value, bool) else by_folded.get(str(value).lower())
            if word is None:
                raise refuse(value, "one of " + ", ".join(words))
            return word

        return core_schema.no_info_before_validator_function(pick, handler(source))
