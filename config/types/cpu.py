"""CPUs: whole ones for Slurm's nodes, and Kubernetes' fractions for pods that only serve."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field

from config.types.parsed import Parsed
from config.types.scalars import Integer

# Slurm counts a node's CPUs in 16 bits and keeps the last two values for itself.
MOST_CPUS = 65533

CpuCount = Annotated[Integer, Field(ge=1, le=MOST_CPUS)]

_CPUS = re.compile(r"([0-9]+(?:\.[0-9]{1,3})?)|([0-9]+)m")


@dataclass(frozen=True, order=True)
class CpuQuantity(Parsed):
    """A share of CPUs in thousandths, as Kubernetes counts them."""

    milli: int

    wants = "a number of CPUs such as 2, 0.5 or 500m"
    pattern = r"^([0-9]+(\.[0-9]{1,3})?|[0-9]+m)$"
    examples = (2, "500m")

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _CPUS.fullmatch(text)
        if match is None:
            raise ValueError
        milli = int(Decimal(match[1]) * 1000) if match[1] else int(match[2])
        if not 1 <= milli <= MOST_CPUS * 1000:
            raise ValueError(f"it must be between 1m and {MOST_CPUS}")
        return cls(milli)

    def __str__(self) -> str:
        """As a Kubernetes quantity."""
        return str(self.milli // 1000) if self.milli % 1000 == 0 else f"{self.milli}m"
