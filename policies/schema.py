"""The JSON Schema of a file for `--policy-pack-config`, so that editors complete and check it.

`python -m policies.schema > policies/schema.json` after a change of the rules; a test says so if it was forgotten.
"""

import json
import sys
from typing import Any

from policies.rule import Rule
from policies.rules import RULES

LEVEL: dict[str, Any] = {
    "description": "What a violation does: `mandatory` stops, `advisory` warns, `disabled` does not look.",
    "enum": ["mandatory", "advisory", "disabled"],
}


def schema() -> dict[str, Any]:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Config of the Slipway policy pack",
        "type": "object",
        "properties": {"all": {**LEVEL, "description": "For every rule. " + LEVEL["description"]}}
        | {rule.name: _rule(rule) for rule in RULES},
        "additionalProperties": False,
    }


def _rule(rule: Rule) -> dict[str, Any]:
    """A level alone, or an object with it and the rule's own settings."""
    options = {
        "type": "object",
        "properties": {"enforcementLevel": {**LEVEL, "default": rule.level.value}, **rule.settings},
        "additionalProperties": False,
    }
    return {"description": rule.about, "anyOf": [LEVEL, options]}


def text() -> str:
    """The schema as it is committed."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
