"""The caretaker beside slurmctld: what it is told, and what it may do."""

from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy


def test_it_is_a_container_of_the_controllers_pod_with_no_rights_on_the_node(healthy: Made) -> None:
    container = healthy.pod("StatefulSet", "controller").containers["caretaker"]
    assert container["command"] == ["python3", "-B", "-m", "caretaker"]
    assert {each["name"]: each["value"] for each in container["env"]} == {
        "PYTHONPATH": "/usr/local/lib/slipway",
        "SLURMCTLD_PORT": "6817",
        "STUCK_AFTER": "120",
        "REPLACE_LOST": "yes",
        "REBOOT_ANNOTATION": "slipway/reboot-requested",
    }
    assert container["securityContext"]["runAsNonRoot"] is True


def test_it_may_look_at_nodes_and_pods_and_end_those_of_workers(healthy: Made) -> None:
    assert healthy("ClusterRole", "slurm-caretaker").inputs["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]}
    ]
    workers = ["worker-0", "worker-1", "elastic-0", "elastic-1", "elastic-2"]
    assert healthy("Role", "caretaker").inputs["rules"] == [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods"], "resourceNames": workers, "verbs": ["delete", "patch"]},
    ]
    for kind, name in (("ClusterRoleBinding", "slurm-caretaker"), ("RoleBinding", "caretaker")):
        subjects = healthy(kind, name).inputs["subjects"]
        assert subjects == [{"kind": "ServiceAccount", "name": "controller", "namespace": "slurm"}]


def test_workers_stay_on_their_machines_until_it_lets_go_of_them(healthy: Made, small: Made) -> None:
    budget = healthy("PodDisruptionBudget", "workers").spec
    assert budget["maxUnavailable"] == 0
    assert budget["selector"]["matchExpressions"] == [{"key": "slipway/released", "operator": "DoesNotExist"}]
    for name in ("worker", "elastic"):
        assert budget["selector"]["matchLabels"].items() <= healthy.pod("StatefulSet", name).labels.items()
    for others in ("login", "controller"):
        assert not budget["selector"]["matchLabels"].items() <= healthy.pod("StatefulSet", others).labels.items()
    assert not small.of("PodDisruptionBudget"), "nobody would ever let go of them"


def test_it_may_change_nodes_only_where_reboots_are_asked_for() -> None:
    made = deploy(**{**stacks.HEALTHY, "health": {"enabled": True}, "nodeSets": {}})
    assert made("ClusterRole", "slurm-caretaker").inputs["rules"][0]["verbs"] == ["list"]
    told = {each["name"] for each in made.pod("StatefulSet", "controller").containers["caretaker"]["env"]}
    assert not told & {"REBOOT_ANNOTATION", "REPLACE_LOST"}


def test_its_token_is_its_own_unless_slurmctld_needs_one_too(healthy: Made) -> None:
    def holders(made: Made) -> set[str]:
        containers = made.pod("StatefulSet", "controller").containers
        return {
            name
            for name, each in containers.items()
            if any(mount["name"] == "kubernetes" for mount in each.get("volumeMounts", []))
        }

    assert holders(healthy) == {"slurmctld", "caretaker"}
    alone = deploy(**{**stacks.HEALTHY, "nodeSets": {}})
    assert holders(alone) == {"caretaker"}
    assert alone.names("Role") == {"caretaker"}


def test_with_slurms_own_authentication_it_has_the_key(healthy: Made) -> None:
    def key(made: Made) -> tuple[bool, bool]:
        container = made.pod("StatefulSet", "controller").containers["caretaker"]
        told = {each["name"]: each["value"] for each in container["env"]}
        mounted = any(mount["mountPath"] == "/etc/slurm-keys" for mount in container["volumeMounts"])
        return told.get("SLURM_SACK_KEY") == "/etc/slurm-keys/slurm.key", mounted

    assert key(healthy) == (False, False)
    assert key(deploy(**{**stacks.HEALTHY, "cluster": {"auth": "slurm"}})) == (True, True)


def test_commands_are_told_that_nodes_are_looked_after(healthy: Made, small: Made) -> None:
    def environment(made: Made) -> dict[str, str]:
        return made.command(f"{made.settings.cluster.name}-roll").inputs["environment"]

    assert environment(healthy)["SLIPWAY_HEALTH"] == "yes"
    assert "SLIPWAY_HEALTH" not in environment(small)


def test_without_health_there_is_none_of_it(small: Made) -> None:
    assert "caretaker" not in small.pod("StatefulSet", "controller").containers
    assert small.names("ClusterRole") == set()
    assert not {"prolog.sh", "epilog.sh"} & set(small("ConfigMap", "slurm-config").data)
