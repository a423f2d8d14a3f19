"""What must not be shown, taken out of what the engine tells.

The engine blinds what is marked as secret, unless somebody asked it not to. Nothing here relies on that: what is marked
is hidden, and so are the data of Secrets and what by its name can only be a secret. What was learnt to be one is hidden
wherever else it turns up, for example in an error message."""

import base64
import binascii
import json
import re
from typing import Any

from slurm.hidden import HIDDEN, without_secrets

UNKNOWN = "(known after the update)"

_MARK = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 -- how the engine marks one, and none itself
_UNKNOWN = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
_NAMED = re.compile(r"(?i)(.*[._-])?(\w*password|\w*passphrase|\w*token|\w*credentials?|(private|secret|api)[_-]?key)")
_PEM = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(-----END \1-----|\Z)", re.DOTALL)
_SHORTEST = 6  # a shorter one would take half of the report with it
_SHORTEST_LINE = 16


class Secrets:
    """All that was found to be secret so far."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def plain(self, kind: str, value: Any) -> Any:
        """A resource's properties as they may be shown."""
        if kind == "kubernetes:core/v1:Secret" and isinstance(value, dict):
            held = {key: self._hide(value[key]) for key in ("data", "stringData") if key in value}
            return {**{key: self._plain(each) for key, each in value.items() if key not in held}, **held}
        return self._plain(value)

    def scrub(self, text: str) -> str:
        """A whole text without any secret that is known by now, and without keys that can be told by their form."""
        return self.hide_known(_PEM.sub(HIDDEN, without_secrets(text)))

    def hide_known(self, text: str) -> str:
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, HIDDEN)
        return text

    def _plain(self, value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            if value in _UNKNOWN:
                return UNKNOWN
            return self._hide(value) if value and _NAMED.fullmatch(name) else _PEM.sub(HIDDEN, without_secrets(value))
        if isinstance(value, list):
            return [self._plain(each) for each in value]
        if isinstance(value, dict):
            if value.get(_MARK) == _SECRET:
                self._learn(value.get("plaintext"))
                return HIDDEN
            # An environment variable of a container: the name stands beside the value.
            named = {"value": value["name"]} if isinstance(value.get("name"), str) else {}
            return {key: self._plain(each, named.get(key, key)) for key, each in value.items()}
        return value

    def _hide(self, value: Any) -> Any:
        if isinstance(value, dict) and value.get(_MARK) != _SECRET:
            return {key: self._hide(each) for key, each in value.items()}
        if isinstance(value, str) and value in _UNKNOWN:
            return UNKNOWN
        self._learn(value.get("plaintext") if isinstance(value, dict) else value)
        return HIDDEN

    def _learn(self, value: Any) -> None:
        """Remember a secret in each form in which it may turn up."""
        if isinstance(value, dict):
            for each in value.values():
                self._learn(each)
        elif isinstance(value, list):
            for each in value:
                self._learn(each)
        elif isinstance(value, str):
            inner = _decoded(value)
            if inner is not None and inner != value:
                self._learn(inner)
            if len(value) >= _SHORTEST and value not in (HIDDEN, "[secret]"):
                self._values.add(value)
                self._values.update(line for line in value.splitlines() if len(line) >= _SHORTEST_LINE)


def _decoded(value: str) -> Any:
    """What is inside of JSON, as of the engine's plain texts, or of base64, as of a Secret's data."""
    try:
        return json.loads(value)
    except ValueError:
        pass
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
