"""A base for values that a user writes as text (`2h`, `512Mi`, `25%`) and a program reads as numbers."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from config.types.shown import shown


class Parsed(ABC):
    """Text in, a value out. `str()` gives the canonical text, and parsing that gives an equal value."""

    wants: ClassVar[str]  # completes the sentence "… is not …"
    pattern: ClassVar[str]  # for editors: what JSON Schema can say of the text
    examples: ClassVar[tuple[str | int, ...]]

    @classmethod
    @abstractmethod
    def parse(cls, text: str) -> Self:
        """The value that the text stands for; ValueError, with a reason if `wants` does not say enough."""

    @classmethod
    def validate(cls, value: object) -> Self:
        """What pydantic calls: takes the value itself, text, or a whole number as YAML reads one."""
        if isinstance(value, cls):
            return value
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            try:
                return cls.parse(str(value).strip())
            except ValueError as reason:
                detail = f" ({reason})" if str(reason) else ""
                raise _refusal(cls, value, detail) from None
        raise _refusal(cls, value, "")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.validate, serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": ["string", "number"], "pattern": cls.pattern, "examples": list(cls.examples)}


def _refusal(kind: type[Parsed], value: object, detail: str) -> PydanticCustomError:
    return PydanticCustomError(
        "slipway",
        "{value} is not {wants}{detail}",
        {
            "value": shown(value),
            "wants": kind.wants,
            "detail": detail,
        },
    )
