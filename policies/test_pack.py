"""The pack as a whole: what is configured, what is documented, what is committed."""

import json
import re
from pathlib import Path

import pytest

from policies.rule import Rule
from policies.rules import MODULES, RULES
from policies.schema import text

HERE = Path(__file__).parent
BY_NAME = {rule.name: rule for rule in RULES}


def test_the_committed_schema_is_that_of_the_rules() -> None:
    committed = (HERE / "schema.json").read_text()
    assert committed == text(), "run: python -m policies.schema > policies/schema.json"


@pytest.mark.parametrize("rule", BY_NAME.values(), ids=BY_NAME)
def test_every_setting_is_documented_with_a_default_and_an_example(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z-]+", rule.name)
    assert rule.about.endswith(".")
    page = (HERE / "rules" / rule.page).read_text()
    for name, setting in rule.settings.items():
        assert setting["description"].endswith(".")
        assert "default" in setting
        assert setting["examples"]
        assert f"`{name}`" in page, f"{rule.page} does not speak of {name}"


def test_every_rule_has_its_page_and_its_test_beside_it() -> None:
    modules = {Path(str(module.__file__)).stem for module in MODULES}
    found = {file.stem for file in (HERE / "rules").glob("*.py") if not file.stem.startswith(("__", "test_"))}
    assert found == modules
    for name in modules:
        assert (HERE / "rules" / f"test_{name}.py").exists()
        page = (HERE / "rules" / f"{name}.md").read_text()
        for heading in ("## Problem", "## Fails", "## Passes", "## Configure"):
            assert heading in page, f"{name}.md has no {heading}"


@pytest.mark.parametrize("file", sorted((HERE / "stacks").glob("*.json")), ids=lambda file: file.name)
def test_the_config_of_each_stack_names_rules_and_settings_that_exist(file: Path) -> None:
    for name, settings in json.loads(file.read_text()).items():
        assert set(settings) <= {"enforcementLevel", *BY_NAME[name].settings}
