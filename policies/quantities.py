"""Kubernetes quantities as numbers, so that `1` and `1000m` are equal."""

from decimal import Decimal, InvalidOperation
from typing import Any

_SUFFIXES = {
    "m": Decimal("0.001"),
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}


def amount(quantity: Any) -> Decimal | None:
    """The number that a quantity stands for; None if it is none."""
    text = str(quantity)
    number = text.rstrip("kKMGTPEim")
    try:
        return Decimal(number) * _SUFFIXES[text[len(number) :]]
    except (InvalidOperation, KeyError):
        return None
