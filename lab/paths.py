"""Where things live: what is built once is cached by version; what a lab is made of goes when the lab goes."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def cache() -> Path:
    """The folder outside the checkout that outlives labs and checkouts: `SLIPWAY_CACHE`, else the user's cache."""
    own = os.environ.get("SLIPWAY_CACHE")
    if own:
        return Path(own).resolve()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).resolve() / "slipway"


def tools() -> Path:
    return cache() / "tools"


def images() -> Path:
    return cache() / "images"


def labs() -> Path:
    return cache() / "labs"


def locks() -> Path:
    return cache() / "locks"
