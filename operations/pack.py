"""The policy pack, which every preview and update that goes through `slipway` runs."""

from pathlib import Path

PACK = Path(__file__).parents[1] / "policies"
CONFIG = "--policy-pack-config"


def words(stack: str, given: list[str]) -> list[str]:
    """Arguments for `pulumi`: the pack, and the stack's config for it (`policies/stacks/<stack>.json`) if there is one
    and the user has not named another."""
    config = PACK / "stacks" / f"{stack.rpartition('/')[2]}.json"
    named = any(word == CONFIG or word.startswith(f"{CONFIG}=") for word in given)
    return ["--policy-pack", str(PACK), *([] if named or not config.exists() else [CONFIG, str(config)])]
