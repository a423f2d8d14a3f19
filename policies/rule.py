"""What a rule is, and how it becomes a policy of pulumi-policy."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from policies.reading import Resource, Stack

Settings = Mapping[str, Any]
Check = Callable[[Resource, Stack, Settings], Iterator[str]]


@dataclass(frozen=True)
class Rule:
    """A check of one resource at a time, with what was seen of the stack before it. It yields what it has to say.

    All rules look at resources and not at stacks: the engine asks them before it makes a resource, where it asks rules
    for stacks at the end of an update."""

    name: str
    about: str
    check: Check
    page: str
    settings: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """JSON Schemas of what can be configured, each with its default."""
    level: EnforcementLevel = EnforcementLevel.MANDATORY

    def chosen(self, config: Settings) -> dict[str, Any]:
        """All settings, with defaults where nothing is configured."""
        return {key: config.get(key, schema["default"]) for key, schema in self.settings.items()}

    def findings(self, resource: Resource, stack: Stack, config: Settings | None = None) -> Iterator[str]:
        """What the rule has against a resource. A value that is not known yet is a finding, and no reason to be silent:
        the engine would let the resource through with a warning."""
        try:
            yield from self.check(resource, stack, self.chosen(config or {}))
        except UnknownValueError as unknown:
            yield (
                f"{resource}: `{'.'.join(unknown.props)}` is known only after the update, and so this rule cannot be "
                "checked before it. Give it a plain value, not an output of another resource."
            )

    def policy(self, stack: Stack) -> ResourceValidationPolicy:
        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            resource = seen(args)
            stack.add(resource)
            for message in self.findings(resource, stack, args.get_config()):
                report(message, None)

        return ResourceValidationPolicy(
            name=self.name,
            description=f"{self.about} (policies/rules/{self.page})",
            validate=validate,
            enforcement_level=self.level,
            config_schema=PolicyConfigSchema(properties=dict(self.settings)) if self.settings else None,
        )


def seen(args: ResourceValidationArgs) -> Resource:
    """A resource as pulumi-policy hands it over."""
    return Resource(
        type=args.resource_type,
        name=args.name,
        props=args.props,
        urn=args.urn,
        parent=args.opts.parent or "",
        provider=args.provider.name if args.provider else "",
        protected=args.opts.protect,
        secret_outputs=frozenset(args.opts.additional_secret_outputs),
    )
