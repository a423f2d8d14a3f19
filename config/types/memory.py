"""Sizes of memory and of volumes: Kubernetes' quantities in, MiB for Slurm and quantities for Kubernetes out."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from config.types.parsed import Parsed

MIB = 1 << 20
_SUFFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_SUFFIXES |= {f"{letter}i": 1 << 10 * power for power, letter in enumerate("KMGTP", start=1)}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKMGTP]i?|)B?")


@dataclass(frozen=True, order=True)
class MemorySize(Parsed):
    """A number of bytes, at least one MiB: less than that is a forgotten unit."""

    bytes: int

    wants = "a size such as 512Mi, 1.5Gi (powers of 1024), or 2G (powers of 1000)"
    pattern = r"^[0-9]+(\.[0-9]+)?([kKMGTP]i?)?B?$"
    examples = ("512Mi", "64Gi", "2T")

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _SIZE.fullmatch(text)
        if match is None or match[2] == "ki":
            raise ValueError
        size = Decimal(match[1]) * _SUFFIXES[match[2]]
        if size != int(size):
            raise ValueError("it is no whole number of bytes")
        if size < MIB:
            raise ValueError(f"less than 1Mi: a number without a unit is bytes, so perhaps {match[1]}Mi was meant")
        if size >= 1 << 63:
            raise ValueError("more than Kubernetes can count")
        return cls(int(size))

    @property
    def mib(self) -> int:
        """Whole MiB, rounded down, as Slurm counts memory."""
        return self.bytes // MIB

    def __str__(self) -> str:
        """As a Kubernetes quantity, with the largest unit that keeps it exact."""
        for suffix in ("Pi", "Ti", "Gi", "Mi", "Ki"):
            if self.bytes % _SUFFIXES[suffix] == 0:
                return f"{self.bytes // _SUFFIXES[suffix]}{suffix}"
        return str(self.bytes)
