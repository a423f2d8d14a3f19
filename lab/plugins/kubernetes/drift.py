"""What somebody else changed on a live object, told in terms of the program's inputs.

The API server rewrites what it is given (`1024Mi` becomes `1Gi`), adds defaults, and drops what it does not know. So
the live object is compared with what it was when the state was stored, not with the inputs: only where those two differ
do the inputs follow the live object.
"""

import base64
import binascii
from typing import Any

from lab.plugins.kubernetes.objects import Object, dig

_GONE = object()


def follow(inputs: Object, before: Object, now: Object) -> Object:
    """`inputs` as they would have to be for the object to be as it is `now`; `before` is how it was stored."""
    followed = _follow(inputs, before, now)
    if "stringData" in followed:
        followed["stringData"] = _string_data(followed["stringData"], before, now)
    return followed


def _follow(inputs: Any, before: Any, now: Any) -> Any:
    if before == now:
        return inputs
    if isinstance(inputs, dict) and isinstance(before, dict) and isinstance(now, dict):
        return _mapping(inputs, before, now)
    if isinstance(inputs, list) and isinstance(before, list) and isinstance(now, list):
        return _list(inputs, before, now)
    return now


def _mapping(inputs: dict[str, Any], before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    followed = {}
    for key, value in inputs.items():
        if key not in before:
            followed[key] = value  # write-only, or unknown to this server: the live object never had it
        elif key in now:
            followed[key] = _follow(value, before[key], now[key])
    return followed


def _list(inputs: list[Any], before: list[Any], now: list[Any]) -> list[Any]:
    if all(isinstance(item, dict) and "name" in item for item in [*inputs, *before, *now]):
        # Elements with a name (containers, env, volumes) are the same element in whatever order.
        were, are = ({item["name"]: item for item in items} for items in (before, now))
        return [
            _follow(item, were.get(item["name"], item), are[item["name"]]) for item in inputs if item["name"] in are
        ]
    if len(inputs) == len(before) == len(now):
        return [_follow(*three) for three in zip(inputs, before, now, strict=True)]
    return now


def _string_data(string_data: Any, before: Object, now: Object) -> Any:
    """`stringData` is write-only: its values are in `data`, encoded."""
    followed = dict(string_data) if isinstance(string_data, dict) else {}
    for key in list(followed):
        was, is_ = (dig(obj, "data", key, default=_GONE) for obj in (before, now))
        if was == is_:
            continue
        if is_ is _GONE:
            del followed[key]
            continue
        try:
            followed[key] = base64.b64decode(is_).decode()
        except (binascii.Error, UnicodeDecodeError):
            followed[key] = is_
    return followed
