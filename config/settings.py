"""The whole stack config as one checked value."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.node_filters import NodeFilter

PREFIX = "slipway:"

class Cluster(BaseModel):
    """Names that hold for everything in the stack."""

    model_config = ConfigDict(extra="forbid")

    name: str = "dev"
    namespace: str = "slurm"


class Images(BaseModel):
    """Which image each kind of pod runs."""

    model_config = ConfigDict(extra="forbid")

    probe: str


class Settings(BaseModel):
    """Everything that the `slipway:` keys of a stack file say."""

    model_config = ConfigDict(extra="forbid")

    cluster: Cluster = Field(default_factory=Cluster)
    nodeFilters: dict[str, NodeFilter] = Field(default_factory=dict)  # noqa: N815 -- as in the stack file
    images: Images

    @classmethod
    def load(cls, stack: Mapping[str, str], environment: Mapping[str, str]) -> "Settings":
        """Check a stack's whole config as the engine hands it over: `slipway:key` to a string or an object's JSON.

        Images that the stack does not name are the ones that the lab has built."""
        values = {key.removeprefix(PREFIX): _value(text) for key, text in stack.items() if key.startswith(PREFIX)}
        images = values.setdefault("images", {})
        if isinstance(images, dict) and "SLIPWAY_PROBE_IMAGE" in environment:
            images.setdefault("probe", environment["SLIPWAY_PROBE_IMAGE"])
        return cls.model_validate(values)


def _value(text: str) -> Any:
    return json.loads(text) if text.startswith(("{", "[")) else text


def problems(error: ValidationError) -> str:
    """Each problem on a line of its own, with the key that a user would look for."""
    lines = [f"  slipway:{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    return "\n".join(["The stack config is not valid:", *lines])
