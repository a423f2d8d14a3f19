"""Shared storage can be shared, data outlives a mistake, and not everyone may knock at the login pods."""

import ipaddress
from collections.abc import Callable, Iterator

from pulumi_policy import EnforcementLevel

from policies.reading import BRIDGE, STORAGE, Resource, Stack
from policies.rule import Check, Rule, Settings

SHARED = "ReadWriteMany"
KEEPER = "-keeper"  # the provider of what `storage.retain` keeps (components/options.py)
DEVELOPMENT = "development"


def shared(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    if resource.kind != "PersistentVolumeClaim" or not any(each.type == STORAGE for each in stack.above(resource)):
        return
    modes = list((resource.props.get("spec") or {}).get("accessModes") or ())
    if modes != [SHARED]:
        yield (
            f"{resource} is mounted by pods on all nodes, and its accessModes are {', '.join(modes) or 'none'}. Make "
            f"them {SHARED}, with a storageClass that can do it (`storage`)."
        )


def protected(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    """The engine does not tell a pack of `retain_on_delete`. The components set it for exactly what the provider
    `<cluster>-keeper` manages, which a unit test of theirs proves."""
    if resource.of_kubernetes and resource.kind in ("PersistentVolumeClaim", "Namespace"):
        if resource.kind == "Namespace" and any(each.type == BRIDGE for each in stack.above(resource)):
            return  # nothing is stored in the bridge's own
        if not resource.protected and not resource.provider.endswith(KEEPER):
            what = "all claims in it" if resource.kind == "Namespace" else "the files or the queue on it"
            yield (
                f"{resource} goes when the stack does, and with it {what}. Set `storage.retain: true`, or `protect` "
                "the resource."
            )
    elif resource.of_kubernetes and resource.kind == "StatefulSet":
        policy = (resource.props.get("spec") or {}).get("persistentVolumeClaimRetentionPolicy") or {}
        if "Delete" in (policy.get("whenDeleted"), policy.get("whenScaled")):
            yield f"{resource} deletes claims when it or a pod goes. Leave persistentVolumeClaimRetentionPolicy out."


def sources(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    spec = resource.props.get("spec") or {} if resource.of_kubernetes and resource.kind == "Service" else {}
    if spec.get("type") != "LoadBalancer":
        return
    ranges = list(spec.get("loadBalancerSourceRanges") or ())
    if not ranges or any(_everyone(each) for each in ranges):
        yield (
            f"{resource}: the whole internet may connect to this load balancer. State the networks of your users in "
            "`login.service.sourceRanges` (of another Service: in its own section)."
        )


def _everyone(network: str) -> bool:
    try:
        return ipaddress.ip_network(network, strict=False).prefixlen == 0
    except ValueError:
        return True  # what cannot be read is no limit


def _only(check: Check, wanted: Callable[[str], bool]) -> Check:
    """The check, in stacks of some stages. What belongs to no cluster is treated as if much depended on it."""

    def checked(resource: Resource, stack: Stack, settings: Settings) -> Iterator[str]:
        cluster = stack.cluster_of(resource)
        if resource.of_kubernetes and wanted(cluster.stage if cluster else ""):
            yield from check(resource, stack, settings)

    return checked


def _twice(name: str, about: str, check: Check) -> list[Rule]:
    """A rule that only warns in development."""
    advice = f"{about} Only a warning, as the stack is for development."
    return [
        Rule(name, about, _only(check, lambda stage: stage != DEVELOPMENT), "storage.md"),
        Rule(
            f"{name}-advice",
            advice,
            _only(check, lambda stage: stage == DEVELOPMENT),
            "storage.md",
            level=EnforcementLevel.ADVISORY,
        ),
    ]


RULES = [
    Rule("shared-storage", f"The shared root and what is mounted in it is {SHARED}.", shared, "storage.md"),
    *_twice("protected-storage", "The shared root and the state outlive the stack.", protected),
    *_twice("login-sources", "A load balancer says which networks may connect to it.", sources),
]
