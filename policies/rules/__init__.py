"""The rules, one module each, with its page beside it."""

from policies.rule import Rule
from policies.rules import budget, images, isolation, lending, node_filters, privileges, resources, secrets, storage

MODULES = (node_filters, isolation, lending, images, resources, privileges, secrets, storage, budget)
RULES: list[Rule] = [rule for module in MODULES for rule in module.RULES]
