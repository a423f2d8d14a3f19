"""The policy pack: `pulumi preview --policy-pack policies`. The last call serves the engine until it has finished."""

from pulumi_policy import PolicyPack

from policies import marks
from policies.reading import Stack
from policies.rules import RULES

marks.keep()
stack = Stack()
PolicyPack("slipway", [rule.policy(stack) for rule in RULES])
