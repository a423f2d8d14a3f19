"""Scripts in a stack config: the one kind of setting that has lines."""

import json
from typing import Any

import pytest

from config import ConfigProblems, Settings

SCRIPT = "#!/bin/bash\nif true; then\n\texit 0\nfi\n"


def loaded(**keys: Any) -> Settings:
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in keys.items()}
    images = {"images": json.dumps({"registry": "registry.example.com/slipway"})}
    return Settings.load({f"slipway:{key}": text for key, text in {**images, **texts}.items()}, {})


@pytest.mark.parametrize(
    "keys",
    [
        {"health": {"checks": {"mine": SCRIPT}}},
        {"health.checks": {"mine": SCRIPT}},
        {"health.checks.mine": SCRIPT},
    ],
)
def test_a_script_keeps_its_lines_and_tabs_however_it_is_written(keys: dict[str, Any]) -> None:
    assert loaded(**keys).health.checks == {"mine": SCRIPT}


def test_a_script_that_looks_like_something_else_is_text() -> None:
    assert loaded(**{"health.prolog.mine": "true"}).health.prolog == {"mine": "true\n"}
    assert loaded(**{"health.prolog.mine": "{ true; }"}).health.prolog == {"mine": "{ true; }\n"}


def test_no_other_setting_has_lines() -> None:
    with pytest.raises(ConfigProblems, match="a line break"):
        loaded(**{"health.reboot.annotation": "a\nb"})
