"""A second slurmctld beside the first, with the same state."""

from components.change import Change
from slurm.moves import moves, places
from tests.unit.components.deployed import Made, deploy, settings_of

ADDRESS = "controller-{}.controller.slurm.svc.cluster.local"
BACKUP = {"controller": {"backup": True, "takeover": "20s", "state": {"storageClass": "shared"}}}


def made() -> Made:
    return deploy(**BACKUP)


def test_it_runs_on_another_node_than_the_first() -> None:
    stateful_set = made()("StatefulSet", "controller")
    assert stateful_set.spec["replicas"] == 2
    pod = made().pod("StatefulSet", "controller")
    [apart] = pod.spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"]["matchLabels"].items() <= pod.labels.items()


def test_one_that_waits_to_take_over_counts_as_ready(small: Made) -> None:
    """Else Kubernetes would wait for it before it replaces the other one."""
    for cluster, path in ((made(), "/livez"), (small, "/readyz")):
        probe = cluster.pod("StatefulSet", "controller").containers["slurmctld"]["readinessProbe"]
        assert probe["httpGet"]["path"] == path


def test_both_mount_the_state(small: Made) -> None:
    assert made()("PersistentVolumeClaim", "controller-state").spec["accessModes"] == ["ReadWriteMany"]
    assert small("PersistentVolumeClaim", "controller-state").spec["accessModes"] == ["ReadWriteOnce"]


def test_workers_and_logins_ask_either_of_them(small: Made) -> None:
    both = ",".join(f"{ADDRESS.format(number)}:6817" for number in (0, 1))
    for name, container in (("worker", "slurmd"), ("login", "sackd")):
        said = {
            each["name"]: each.get("value") for each in made().pod("StatefulSet", name).containers[container]["env"]
        }
        assert said["SLURM_CONTROLLER"] == both
        alone = {
            each["name"]: each.get("value") for each in small.pod("StatefulSet", name).containers[container]["env"]
        }
        assert alone["SLURM_CONTROLLER"].count(":") == 1


def test_one_of_them_stays_while_nodes_are_emptied(small: Made) -> None:
    budget = made()("PodDisruptionBudget", "controller")
    assert budget.spec["maxUnavailable"] == 1
    assert budget.spec["selector"]["matchLabels"].items() <= made().pod("StatefulSet", "controller").labels.items()
    assert not small.of("PodDisruptionBudget"), "the node of a single pod can always be emptied"


def test_a_login_stays_for_sessions_to_come_while_nodes_are_emptied() -> None:
    two = deploy(login={"size": 2})
    [budget] = two.of("PodDisruptionBudget")
    assert budget.metadata["name"] == "login"
    assert budget.spec["selector"]["matchLabels"].items() <= two.pod("StatefulSet", "login").labels.items()


def test_a_claim_for_one_node_does_not_become_one_for_two() -> None:
    alone = {"controller": {"state": {"storageClass": "shared"}}}
    [step] = moves(places(settings_of(**alone)), places(settings_of(**BACKUP)))
    assert step.cls == "refused"
    given = {"state": {"existingClaim": "mine"}}
    before, after = (settings_of(controller={**given, "backup": backup}) for backup in (False, True))
    assert not moves(places(before), places(after))


def test_those_who_only_ask_get_another_version_last() -> None:
    """As Slurm wants it. Where there is no cluster yet nobody has to wait."""
    running, first = deploy(Change(running=True)), deploy(Change())
    for cluster, waits in ((running, True), (first, False)):
        rolled = next(each for each in cluster.of("Command") if each.name.endswith("-roll"))
        assert cluster.waits_for(cluster("StatefulSet", "login"), rolled) is waits
