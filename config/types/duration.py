"""Lengths of time, in Slurm's formats and in the shorthand of everyone else."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from config.types.parsed import Parsed

MINUTE, HOUR, DAY = 60, 3600, 86400

# Slurm keeps limits as 32-bit minutes; half of that is four thousand years and leaves no room for overflow.
LONGEST = 0x7FFFFFFF * MINUTE

_FOREVER = re.compile(r"unlimited|infinite", re.IGNORECASE)
_UNITS = re.compile(r"(?=[0-9])(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")
_DAYS = re.compile(r"([0-9]+)-([0-9]+)(?::([0-9]+))?(?::([0-9]+))?")
_CLOCK = re.compile(r"([0-9]+):([0-9]+)(?::([0-9]+))?")
_BARE = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class Duration(Parsed):
    """A time limit. A bare number is minutes, as everywhere in Slurm; `seconds` is None for no limit at all."""

    seconds: int | None

    wants = "a length of time such as 2h, 90m, 1d12h, 1-00:00:00 (days-hours:minutes:seconds) or UNLIMITED"
    pattern = (
        r"^([Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd]|[Ii][Nn][Ff][Ii][Nn][Ii][Tt][Ee]|[0-9]+|[0-9]+(:[0-9]+){1,2}"
        r"|[0-9]+-[0-9]+(:[0-9]+){0,2}|([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?)$"
    )
    examples = ("2h", "1-00:00:00", "UNLIMITED")

    @classmethod
    def parse(cls, text: str) -> Self:
        if _FOREVER.fullmatch(text):
            return cls(None)
        seconds = _seconds(text)
        if seconds > LONGEST:
            raise ValueError("longer than Slurm can count; use UNLIMITED for no limit")
        return cls(seconds)

    @property
    def unlimited(self) -> bool:
        """Whether there is no limit."""
        return self.seconds is None

    @property
    def minutes(self) -> int | None:
        """Whole minutes, rounded up as Slurm does; None for no limit."""
        return None if self.seconds is None else -(-self.seconds // MINUTE)

    def __str__(self) -> str:
        """As Slurm prints it: `1-00:00:00`, `02:00:00`, `UNLIMITED`."""
        if self.seconds is None:
            return "UNLIMITED"
        days, rest = divmod(self.seconds, DAY)
        clock = f"{rest // HOUR:02}:{rest % HOUR // MINUTE:02}:{rest % MINUTE:02}"
        return f"{days}-{clock}" if days else clock


@dataclass(frozen=True)
class Interval(Duration):
    """A time to wait. It needs a unit: Slurm's own bare numbers are minutes in some places and seconds in others."""

    wants = "a length of time with its unit, such as 90s, 10m or 2h"
    pattern = r"^(([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?|[0-9]+-[0-9]+(:[0-9]+){0,2}|[0-9]+(:[0-9]+){1,2}|0+)$"
    examples = ("90s", "10m", "2h")
    may_last_forever: ClassVar[bool] = False

    @classmethod
    def parse(cls, text: str) -> Self:
        if _BARE.fullmatch(text) and text.strip("0"):
            raise ValueError(f"say {text}s or {text}m")
        found = super().parse(text)
        if found.seconds is None and not cls.may_last_forever:
            raise ValueError("it must end some time")
        return found

    def __str__(self) -> str:
        """In the shorthand that it is written in: `1d12h`, `90s` is `1m30s`."""
        if self.seconds is None:
            return "UNLIMITED"
        days, rest = divmod(self.seconds, DAY)
        parts = {"d": days, "h": rest // HOUR, "m": rest % HOUR // MINUTE, "s": rest % MINUTE}
        return "".join(f"{number}{unit}" for unit, number in parts.items() if number) or "0s"


@dataclass(frozen=True)
class Timeout(Interval):
    """A time to wait that may be without end."""

    wants = "a length of time with its unit, such as 90s, 10m or 2h, or UNLIMITED"
    pattern = Interval.pattern.replace("|0+)$", "|0+|[A-Za-z]+)$")
    may_last_forever = True


def _seconds(text: str) -> int:
    if _BARE.fullmatch(text):
        return int(text) * MINUTE
    if match := _UNITS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return days * DAY + hours * HOUR + minutes * MINUTE + seconds
    if match := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return days * DAY + hours * HOUR + minutes * MINUTE + seconds
    if match := _CLOCK.fullmatch(text):
        first, second, third = match.groups()
        if third is None:  # minutes:seconds
            return int(first) * MINUTE + int(second)
        return int(first) * HOUR + int(second) * MINUTE + int(third)
    raise ValueError
