"""The bridge is never without a token that is good, and none is good for long."""

import base64
import json
from typing import Any

from tests.cluster.bridge.conftest import MANAGED, Bridged
from tests.cluster.stacks import until

SECONDS = 180  # `bridge.tokenLifespan` of this stack


def claims(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def used(bridged: Bridged) -> set[str]:
    """What the programs really have in their environment; nothing while one of them is replaced."""
    parts = [f"deployment/bridge-{part}" for part in ("scheduler", "controllers")]
    try:
        return {bridged.kubectl("exec", "-n", bridged.own, part, "--", "printenv", "SLURM_JWT") for part in parts}
    except AssertionError:
        return set()


def test_the_token_is_renewed_before_it_ends_and_its_readers_follow(bridged: Bridged, first_token: str) -> None:
    first = claims(first_token)
    assert (first["sun"], first["exp"] - first["iat"]) == ("slurm", SECONDS)
    until(lambda: bridged.token() != first_token, "another token", SECONDS)
    made = bridged.stack.kubectl("logs", "deployment/bridge-steward").count("a token that is good") - 1
    each = (claims(bridged.token())["iat"] - first["iat"]) / made
    assert each < SECONDS - 30, "they come in time"
    until(lambda: used(bridged) == {f"{bridged.token()}\n"}, "its readers to follow", 90)
    bridged.create("renewed", "true")
    bridged.wait_for_phase("renewed", "Succeeded")
    bridged.kubectl("delete", "pod", "renewed", "-n", MANAGED, "--timeout=60s")
