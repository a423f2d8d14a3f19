"""A number of pods, or a share of them."""

import re
from dataclasses import dataclass
from typing import Self

from config.types.parsed import Parsed


@dataclass(frozen=True)
class CountOrPercent(Parsed):
    """`3`, or `25%` of whatever it is applied to."""

    value: int
    percent: bool = False

    wants = "a whole number of at least 1, or a share between 1% and 100%"
    pattern = r"^([1-9][0-9]*|([1-9][0-9]?|100)%)$"
    examples = (1, "25%")

    @classmethod
    def parse(cls, text: str) -> Self:
        if not re.fullmatch(cls.pattern, text):  # what an editor is told by the schema is what we read
            raise ValueError
        return cls(int(text.rstrip("%")), text.endswith("%"))

    def of(self, total: int) -> int:
        """How many of `total`: rounded down so that the share is never exceeded, but at least one."""
        return max(1, total * self.value // 100 if self.percent else min(self.value, total))

    def __str__(self) -> str:
        return f"{self.value}%" if self.percent else str(self.value)
