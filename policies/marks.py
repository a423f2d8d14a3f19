"""Which values are marked as secret. pulumi-policy takes the marks away before a rule sees them; here they stay."""

from collections.abc import Mapping
from typing import Any

from pulumi_policy import deserialize, policy


class Marked(str):
    """A text that the engine keeps as a secret. In all else it is like any other."""

    __slots__ = ()


def keep() -> None:
    """Have rules see marks. If a later pulumi-policy reads properties in another way, every Secret looks unmarked to
    the rule on secrets, which then stops everything: loud, and not silent."""
    policy.deserialize_properties = read  # pyright: ignore[reportPrivateImportUsage]


def read(properties: dict[str, Any], proxy_secrets: bool = False) -> dict[str, Any]:
    """Properties as they travel, as pulumi-policy reads them, with every text inside a secret marked."""
    if proxy_secrets:  # for remediations, which keep marks in a way of their own
        return deserialize.deserialize_properties(properties, proxy_secrets)
    return deserialize.deserialize_properties(_marked(properties, False))


def _marked(value: Any, inside: bool) -> Any:
    if isinstance(value, Mapping):
        if value.get(deserialize.SPECIAL_SIG_KEY) == deserialize.SPECIAL_SECRET_SIG:
            return _marked(value.get("value"), True)
        return {key: _marked(each, inside and key != deserialize.SPECIAL_SIG_KEY) for key, each in value.items()}
    if isinstance(value, list):
        return [_marked(each, inside) for each in value]
    return Marked(value) if inside and isinstance(value, str) else value
