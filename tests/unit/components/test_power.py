"""NodeSets that Slurm itself starts and stops: slurmctld may say how many pods they have, and nothing else."""

from typing import Any

import pytest

from tests.unit.components.deployed import Made, deploy

ELASTIC: dict[str, Any] = {
    "worker": {"size": 2},
    "nodeSets": {
        "elastic": {"size": 8, "autoscale": {"min": 1, "idle": "5m"}},
        "spare": {"size": 4, "autoscale": {}},
    },
    "partitions": {"main": {"nodeSets": ["ALL"], "default": True}},
}


@pytest.fixture(scope="module")
def elastic() -> Made:
    return deploy(**ELASTIC)


def test_as_many_pods_are_made_as_always_run_and_then_the_number_is_left_alone(elastic: Made) -> None:
    made = {name: elastic("StatefulSet", name) for name in ("worker", "elastic", "spare")}
    assert {name: each.spec["replicas"] for name, each in made.items()} == {"worker": 2, "elastic": 1, "spare": 0}
    assert {name: set(each.ignored) for name, each in made.items()} == {
        "worker": set(),
        "elastic": {"spec.replicas"},
        "spare": {"spec.replicas"},
    }


def test_the_role_lets_slurmctld_count_and_end_the_pods_of_these_node_sets_and_nothing_else(elastic: Made) -> None:
    assert elastic("Role", "power").inputs["rules"] == [
        {
            "apiGroups": ["apps"],
            "resources": ["statefulsets/scale"],
            "resourceNames": ["elastic", "spare"],
            "verbs": ["get", "patch"],
        },
        {
            "apiGroups": [""],
            "resources": ["pods"],
            "resourceNames": [*(f"elastic-{number}" for number in range(1, 8)), *(f"spare-{n}" for n in range(4))],
            "verbs": ["delete"],
        },
    ]
    binding = elastic("RoleBinding", "power").inputs
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "controller", "namespace": "slurm"}]
    assert binding["roleRef"]["name"] == "power"


def test_only_slurmctlds_own_container_has_the_token(elastic: Made) -> None:
    pod = elastic.pod("StatefulSet", "controller")
    assert pod.spec["serviceAccountName"] == "controller"
    assert pod.spec["automountServiceAccountToken"] is False
    holders = [
        container["name"]
        for container in [*pod.spec["initContainers"], *pod.spec["containers"]]
        if any(mount["name"] == "kubernetes" for mount in container.get("volumeMounts", []))
    ]
    assert holders == ["slurmctld"]


def test_workers_that_slurm_starts_say_when_they_have_started(elastic: Made) -> None:
    def told(name: str) -> set[str]:
        return {each["name"] for each in elastic.pod("StatefulSet", name).spec["containers"][0]["env"]}

    assert "AUTOSCALED" in told("elastic")
    assert "AUTOSCALED" not in told("worker")


def test_without_such_node_sets_slurmctld_knows_nothing_of_kubernetes(small: Made) -> None:
    assert "serviceAccountName" not in small.pod("StatefulSet", "controller").spec
    assert small.names("Role") == set()
