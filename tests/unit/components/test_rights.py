"""What the cluster's own accounts may do in Kubernetes: nothing that would let one become more than it is."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy, plain

# Whoever may do this can read keys, run programs in pods, or give rights away.
SECRETS = {"secrets", "serviceaccounts/token"}
PROGRAMS = {"pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "nodes/proxy", "services/proxy"}
RIGHTS = {"roles", "rolebindings", "clusterroles", "clusterrolebindings", "certificatesigningrequests"}
MAKING = {"create", "update", "deletecollection", "impersonate", "bind", "escalate", "approve"}


@pytest.fixture
def all_rights() -> Made:
    """A stack with each part that has rights: autoscaling, a label of nodes, health with reboots."""
    elastic = {"size": 3, "autoscale": {"min": 1}, "topology": {"switch": "rack0"}}
    node_sets = {**stacks.LABELLED["nodeSets"], "elastic": elastic}
    return deploy(**{**stacks.LABELLED, "nodeSets": node_sets, "health": stacks.HEALTHY["health"]})


def rules(made: Made) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ("Role", "ClusterRole"):
        for each in made.of(kind):
            for rule in plain(each.inputs["rules"]):
                yield f"{kind} {each.metadata['name']}", rule


def test_every_part_that_has_rights_is_looked_at(all_rights: Made) -> None:
    assert all_rights.names("Role") == {"power", "caretaker"}
    assert {name.partition("-")[2] for name in all_rights.names("ClusterRole")} == {"burst-node-label", "caretaker"}


def test_no_right_is_for_everything(all_rights: Made) -> None:
    for role, rule in rules(all_rights):
        words = [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
        assert not [word for word in words if "*" in word], role


def test_nobody_reads_secrets_runs_programs_in_pods_or_gives_rights_away(all_rights: Made) -> None:
    for role, rule in rules(all_rights):
        assert not (SECRETS | PROGRAMS | RIGHTS) & set(rule["resources"]), role
        assert not MAKING & set(rule["verbs"]), role


def test_what_changes_something_names_it(all_rights: Made) -> None:
    """All but Kubernetes nodes, which come and go: those are changed only where reboots are asked for."""
    for role, rule in rules(all_rights):
        if set(rule["verbs"]) & {"patch", "delete"} and rule["resources"] != ["nodes"]:
            assert rule.get("resourceNames"), role


def test_only_kubernetes_nodes_are_seen_beyond_the_namespace(all_rights: Made) -> None:
    beyond = [rule for role, rule in rules(all_rights) if role.startswith("ClusterRole")]
    assert beyond
    for rule in beyond:
        assert rule["resources"] == ["nodes"]
        assert set(rule["verbs"]) <= {"get", "list", "patch"}


def test_rights_are_for_accounts_of_the_cluster_that_pods_have(all_rights: Made) -> None:
    used = {pod.spec.get("serviceAccountName") for pod in all_rights.pods()} - {None}
    assert used == all_rights.names("ServiceAccount")
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        for each in all_rights.of(kind):
            [subject] = plain(each.inputs["subjects"])
            assert subject["kind"] == "ServiceAccount", each.name
            assert subject["namespace"] == all_rights.settings.cluster.namespace, each.name
            assert subject["name"] in used, each.name


def test_no_account_has_its_token_mounted_for_all_to_see(all_rights: Made) -> None:
    for each in all_rights.of("ServiceAccount"):
        assert each.inputs["automountServiceAccountToken"] is False, each.name


def test_a_stack_that_asks_for_nothing_special_has_no_rights_at_all(small: Made) -> None:
    for kind in ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount"):
        assert not small.of(kind), kind
