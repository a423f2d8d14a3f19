"""The rules of the policy pack, with what can be set, from the rules themselves."""

from policies.rule import Rule
from policies.rules import RULES


def page() -> str:
    rows = [f"| [{rule.name}](../policies/rules/{rule.page}) | {rule.level.value} | {_about(rule)} |" for rule in RULES]
    return "\n".join(["| rule | level | asks for |", "|---|---|---|", *rows])


def _about(rule: Rule) -> str:
    settings = ", ".join(f"`{each}`" for each in rule.settings)
    return rule.about + (f" Can be set: {settings}." if settings else "")
