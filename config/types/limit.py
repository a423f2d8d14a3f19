"""Limits of a process: a number or a size, or none at all."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from config.types.memory import MemorySize
from config.types.parsed import Parsed

UNLIMITED = "unlimited"
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class CountLimit(Parsed):
    """So many of something at the most; None for as many as there are."""

    value: int | None

    wants = "a whole number, or unlimited"
    pattern: ClassVar[str] = r"^([0-9]+|[Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd])$"
    examples: ClassVar[tuple[str | int, ...]] = (1048576, UNLIMITED)

    @classmethod
    def parse(cls, text: str) -> Self:
        if text.lower() == UNLIMITED:
            return cls(None)
        if not re.fullmatch("[0-9]{1,19}", text) or not 1 <= int(text) <= _LARGEST:
            raise ValueError("" if not text.isdecimal() else "it must be at least 1 and fit in 63 bits")
        return cls(int(text))

    def __str__(self) -> str:
        return UNLIMITED if self.value is None else str(self.value)


@dataclass(frozen=True)
class SizeLimit(Parsed):
    """So many bytes at the most; None for as many as there are. 0 is a limit, too."""

    value: int | None

    wants = "a size such as 512Mi or 1.5Gi, 0, or unlimited"
    pattern: ClassVar[str] = r"^([0-9]+(\.[0-9]+)?([kKMGTP]i?)?B?|[Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd])$"
    examples: ClassVar[tuple[str | int, ...]] = ("64Mi", UNLIMITED)

    @classmethod
    def parse(cls, text: str) -> Self:
        if text.lower() == UNLIMITED:
            return cls(None)
        return cls(0 if text == "0" else MemorySize.parse(text).bytes)

    def __str__(self) -> str:
        if self.value is None:
            return UNLIMITED
        return str(MemorySize(self.value)) if self.value else "0"
