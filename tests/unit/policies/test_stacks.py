"""What the components make keeps all rules, and says plainly what rules read."""

from typing import Any

import pytest
from pulumi_policy.proxy import unknown_checking_proxy

from policies import marks
from policies.reading import CLUSTER, Resource, Stack
from policies.rules import RULES
from tests.unit.components import deployed, stacks
from tests.unit.components.deployed import Made, deploy, leaves, plain


def violations(made: Made, **config: Any) -> set[tuple[str, str]]:
    """(rule, resource) of everything that the pack would have to say, in the order in which the engine asks."""
    stack = Stack()
    found: set[tuple[str, str]] = set()
    for each in made.resources:
        resource = _seen(each)
        stack.add(resource)
        for rule in RULES:
            found |= {(rule.name, each.name) for _ in rule.findings(resource, stack, config.get(rule.name))}
    return found


def _seen(each: deployed.Resource) -> Resource:
    return Resource(
        type=each.type,
        name=each.name,
        props=unknown_checking_proxy(marks.read(each.inputs)),
        urn=each.urn,
        parent=each.parent,
        provider=each.provider.split("::")[-2] if each.provider else "",
        secret_outputs=each.secret_outputs,
    )


def test_stacks_of_all_kinds_keep_the_rules() -> None:
    assert violations(deploy(**stacks.SMALL)) == set()
    assert violations(deploy(**stacks.RICH)) == set()
    watched = {"monitoring": {"enabled": True, "podMonitor": "on", "rules": "on"}}
    assert violations(deploy(**stacks.RICH, **watched)) == set()
    assert violations(deploy(**stacks.HEALTHY)) == set()
    own = {"images": {"registries": ["registry.example.com"]}}
    assert violations(deploy(**stacks.GIVEN), **own) == set()


def test_a_stack_that_keeps_nothing_is_stopped_unless_it_is_for_development() -> None:
    found = violations(deploy(**stacks.SLURM))
    assert {rule for rule, _ in found} == {"protected-storage"}
    assert "hpc" in {resource for _, resource in found}, "the namespace, which takes all claims with it"
    cluster = {**stacks.SLURM["cluster"], "stage": "development"}
    found = violations(deploy(**{**stacks.SLURM, "cluster": cluster}))
    assert {rule for rule, _ in found} == {"protected-storage-advice"}


def test_images_that_are_named_in_full_need_leave() -> None:
    found = violations(deploy(**stacks.GIVEN))
    assert {rule for rule, _ in found} == {"images"}


@pytest.mark.parametrize("keys", [stacks.SMALL, stacks.RICH, stacks.SLURM, stacks.GIVEN])
def test_a_cluster_states_what_it_declares(keys: dict[str, Any]) -> None:
    made = deploy(**keys)
    [cluster] = [each for each in made.resources if each.type == CLUSTER]
    declared = plain(cluster.inputs)
    assert set(declared["nodeFilters"]) == set(made.settings.node_filters)
    assert {name: each["size"] for name, each in declared["nodeSets"].items()} == {
        name: each.size for name, each in made.settings.all_node_sets.items()
    }
    assert declared["roles"]["controller"] == made.settings.controller.node_filter
    assert "secret" not in " ".join(leaves(cluster.inputs)).lower()


def test_every_volume_of_the_nodes_is_declared() -> None:
    [cluster] = [each for each in deploy(**stacks.GIVEN).resources if each.type == CLUSTER]
    assert plain(cluster.inputs)["hostPaths"] == ["/srv/database", "/srv/state"]
    [cluster] = [each for each in deploy(**stacks.RICH).resources if each.type == CLUSTER]
    assert plain(cluster.inputs)["hostPaths"] == ["/mnt/nvme", "/srv/local"]
