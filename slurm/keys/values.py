"""When two values are the same to Slurm: each function here gives equal results for values that mean the same.

A value that a function does not understand is compared as it is written: Slurm's own check comes at the rehearsal.
"""

import re
from collections.abc import Hashable
from functools import lru_cache

from slurm.hostlist import Hosts

_YES = frozenset({"yes", "y", "true", "t", "up", "1"})
_NO = frozenset({"no", "n", "false", "f", "down", "0"})
_ENDLESS = frozenset({"infinite", "unlimited", "-1"})
_LEVELS = ("quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5")
_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


def text(value: str) -> Hashable:
    """Exactly as written."""
    return value


def word(value: str) -> Hashable:
    """A word of Slurm's own, in any case."""
    return value.lower()


def flag(value: str) -> Hashable:
    """YES and NO in all their spellings."""
    lower = value.lower()
    return True if lower in _YES else False if lower in _NO else lower


def number(value: str) -> Hashable:
    """A count; 010 is 10, and UNLIMITED is INFINITE."""
    lower = value.lower()
    return "infinite" if lower in _ENDLESS else int(lower) if lower.isdecimal() else lower


def minutes(value: str) -> Hashable:
    """A time as partitions have it: 60 is 1:00:00, and seconds are rounded up to a minute."""
    lower = value.lower()
    match = _TIME.fullmatch(lower)
    if lower in _ENDLESS:
        return "infinite"
    if not match:
        return lower
    days, *rest = match.groups()
    parts = [int(part) for part in rest if part is not None]
    if days is not None:
        hours, mins, secs = (*parts, 0, 0)[:3]
    else:
        hours, mins, secs = [(0, *parts, 0), (0, *parts), tuple(parts)][len(parts) - 1]
    total = ((int(days or 0) * 24 + hours) * 60 + mins) * 60 + secs
    return -(-total // 60)


def options(value: str) -> Hashable:
    """A comma-separated list of Slurm's own words, in any order and case."""
    return frozenset(part.strip().lower() for part in value.split(",") if part.strip())


def names(value: str) -> Hashable:
    """A comma-separated list of names, in any order."""
    return frozenset(part.strip() for part in value.split(",") if part.strip())


@lru_cache(maxsize=256)
def hosts(value: str) -> Hashable:
    """A hostlist, however it is written. Many partitions have the same one, and it may be long."""
    try:
        return Hosts.parse(value)
    except ValueError:
        return value


def level(value: str) -> Hashable:
    """A log level by its name or number."""
    lower = value.lower()
    return _LEVELS[int(lower)] if lower.isdecimal() and int(lower) < len(_LEVELS) else lower
