"""No value of a stack config can say more in Slurm's files than it is meant to: no name adds a line or a key."""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

from config import ConfigProblems, Settings
from config.images import ROLES
from slurm.render import render
from tests.unit.components.stacks import RICH

LAB = {f"SLIPWAY_{role.upper()}_IMAGE": f"localhost/{role}:1" for role in ROLES}
HOSTILE = ("{}\nInjected=1", "{} Injected=1", '{}"\nInjected=1', "{}\rInjected=1")
INJECTED = re.compile(r"(^|\s)Injected=")
STACK: dict[str, Any] = {
    **RICH,
    "partitions": {
        "main": {"nodeSets": ["ALL"], "default": True, "allowGroups": ["physics"]},
        "gpu": {"nodeSets": ["gpu"], "maxTime": "1h", "extra": {"LLN": "YES"}},
    },
    "slurm": {
        "extra": {"SchedulerParameters": "bf_continue,nohold_on_prolog_fail"},
        "mail": {"smtp": {"host": "mail.example.com", "sender": "slurm@example.com"}},
    },
    "health": {"enabled": True},
}


def load(stack: dict[str, Any]) -> dict[str, str]:
    return render(Settings.load({f"slipway:{key}": json.dumps(value) for key, value in stack.items()}, LAB))


def hostile(value: Any) -> Iterator[tuple[str, Any]]:
    """The same with one string, or one key, that means more than itself; and which it was."""
    if isinstance(value, str):
        yield from ((form, form.format(value)) for form in HOSTILE)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from ((f"{key}.{what}", {**value, key: changed}) for what, changed in hostile(inner))
            rest = {name: each for name, each in value.items() if name != key}
            yield from ((f"key {form.format(key)}", {**rest, form.format(key): inner}) for form in HOSTILE)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ((f"{at}.{what}", [*value[:at], changed, *value[at + 1 :]]) for what, changed in hostile(inner))


def injected(files: dict[str, str]) -> list[str]:
    """Lines that have got a key of their own, outside of quotes and comments."""
    lines = [line for text in files.values() for line in text.splitlines()]
    return [line for line in lines if INJECTED.search(re.sub(r'"[^"]*"', "", line).partition("#")[0])]


def test_no_value_adds_a_key_to_a_file() -> None:
    assert injected(load(STACK)) == []
    tried = 0
    for what, changed in hostile(STACK):
        tried += 1
        with contextlib.suppress(ConfigProblems):
            assert injected(load(changed)) == [], what
    assert tried > 500


def test_a_key_of_ones_own_would_be_seen() -> None:
    files = {"slurm.conf": 'ClusterName=x Injected=1\n# Injected=1\nA="b Injected=1"\n'}
    assert injected(files) == ["ClusterName=x Injected=1"]
