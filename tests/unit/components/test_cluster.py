"""The cluster as a whole: what is made before what, by which provider, and what a user is told."""

import pytest

from slurm.render import render
from tests.unit.components.deployed import Made


def test_the_namespace_is_there_before_everything_in_it(made: Made) -> None:
    for each in made.resources:
        home = each.metadata.get("namespace") if "metadata" in each.inputs else None
        if home in made.names("Namespace"):
            assert made.waits_for(each, made("Namespace", home)), each.name


def test_workers_may_mount_file_systems_where_pods_are_restricted_by_default(made: Made) -> None:
    labels = made("Namespace", made.settings.cluster.namespace).metadata["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"


def test_secrets_are_there_before_the_pods_that_mount_them(made: Made) -> None:
    for pod in made.pods():
        for volume in pod.volumes.values():
            name = volume.get("secret", {}).get("secretName")
            if name and name not in ("db", "db-ca"):  # these are the user's own
                assert made.waits_for(pod.workload, made("Secret", name)), f"{pod}: {name}"


def test_everything_in_kubernetes_goes_through_the_clusters_own_providers(made: Made) -> None:
    """Not the default one, which has other options and whatever context is current."""
    name = made.settings.cluster.name
    own = tuple(each.urn for each in made.resources if each.name in (f"{name}-kubernetes", f"{name}-keeper"))
    for each in made.resources:
        if each.type.startswith("kubernetes:"):
            assert each.provider.startswith(own), each.name


def test_everything_belongs_to_the_cluster(made: Made) -> None:
    by_urn = {each.urn: each for each in made.resources}
    for each in made.resources:
        if each.type.startswith("pulumi:providers:"):
            continue
        top = each
        while top.parent in by_urn:
            top = by_urn[top.parent]
        assert top.type == "slipway:index:SlurmCluster", each.name


def test_no_two_resources_have_one_name(made: Made) -> None:
    urns = [each.urn for each in made.resources]
    assert len(set(urns)) == len(urns)
    objects = [(each.kind, each.metadata["name"]) for each in made.resources if "metadata" in each.inputs]
    assert len(set(objects)) == len(objects)


@pytest.mark.parametrize(
    ("component", "count"),
    [
        ("ClusterSecrets", 1),
        ("SharedStorage", 1),
        ("Users", 1),
        ("Configuration", 1),
        ("Controller", 1),
        ("NodeSet", 3),
        ("Login", 1),
        ("Rest", 1),
    ],
)
def test_it_is_made_of_components(munge: Made, component: str, count: int) -> None:
    assert len([each for each in munge.resources if each.type == f"slipway:index:{component}"]) == count


def test_the_stack_says_what_the_next_update_compares_with(made: Made) -> None:
    assert made.outputs["files"] == render(made.settings)
    assert made.outputs["namespace"] == made.settings.cluster.namespace
    assert set(made.outputs["partitions"]) == set(made.settings.partitions)
