"""slurmctld: its pod, its state, its rights, and the room that is kept for it elsewhere."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.controller import ANSWER_SECONDS, ANSWERS
from tests.unit.components.deployed import Made


def slurmctld(made: Made) -> dict[str, Any]:
    container, *_ = made.pod("StatefulSet", "controller").spec["containers"]
    assert container["name"] == "slurmctld", "the first one is where `kubectl logs` and `exec` go"
    return container


def mounts(container: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["mountPath"]: each for each in container["volumeMounts"]}


def test_there_is_one_controller_that_a_broken_start_does_not_lock_out(made: Made) -> None:
    spec = made("StatefulSet", "controller").spec
    assert spec["replicas"] == 1
    # With the default a new template waits for the old pod to become ready, which it may never do.
    assert spec["podManagementPolicy"] == "Parallel"


def test_its_name_can_be_looked_up_while_it_starts(made: Made) -> None:
    service = made("Service", "controller").spec
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"] is True
    assert [port["port"] for port in service["ports"]] == [6817]


def test_slurmctld_itself_says_whether_it_lives_and_serves(made: Made) -> None:
    container = slurmctld(made)
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": 6817}
    start = container["startupProbe"]
    assert start["httpGet"] == {"path": "/livez", "port": 6817}
    assert start["periodSeconds"] * start["failureThreshold"] >= 120, "reading the state of a large cluster takes time"


def test_a_busy_slurmctld_is_not_killed(small: Made) -> None:
    probe = slurmctld(small)["livenessProbe"]
    assert ANSWER_SECONDS * probe["failureThreshold"] >= 60
    assert probe["timeoutSeconds"] > ANSWER_SECONDS, "it is the question that takes too long, and not its answer"


@pytest.mark.parametrize(
    ("served", "squeue", "lives"),
    [
        ("livez readyz", "exit 0", True),
        ("livez readyz", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", True),
        ("livez readyz", "exec sleep 5", False),
        ("livez", "exec sleep 5", True),  # a backup that waits: squeue would ask the other one
        ("", "exit 0", False),
    ],
)
def test_a_slurmctld_that_says_anything_lives(tmp_path: Path, served: str, squeue: str, lives: bool) -> None:
    curl = f'for last; do :; done\ncase " {served} " in *" ${{last##*/}} "*) ;; *) exit 22 ;; esac'
    for name, text in {"squeue": squeue, "curl": curl}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    script = ANSWERS.replace(f"timeout {ANSWER_SECONDS} ", "timeout 0.2 ")
    done = subprocess.run(["sh", "-c", script], env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (done.returncode == 0) == lives


def test_slurmctld_has_no_rights(made: Made) -> None:
    context = slurmctld(made)["securityContext"]
    assert context["runAsNonRoot"] is True
    assert (context["runAsUser"], context["runAsGroup"]) == (64030, 64030)
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}


def test_only_what_prepares_the_state_folder_is_root_and_it_sees_nothing_else(made: Made) -> None:
    pod = made.pod("StatefulSet", "controller")
    as_root = [each for each in pod.containers.values() if each["securityContext"]["runAsUser"] == 0]
    assert [each["name"] for each in as_root] == ["state"]
    assert [each["name"] for each in as_root[0]["volumeMounts"]] == ["state"]


def test_the_queue_is_in_a_folder_of_its_own_on_its_volume(made: Made) -> None:
    state = mounts(slurmctld(made))["/var/spool/slurmctld"]
    assert state == {"name": "state", "mountPath": "/var/spool/slurmctld", "subPath": "slurmctld"}
    [script] = made.pod("StatefulSet", "controller").containers["state"]["command"][2:]
    assert "mkdir -p /mnt/state/slurmctld;" in script
    assert "chown 64030:64030 /mnt/state/slurmctld;" in script
    assert "chmod 700 /mnt/state/slurmctld" in script


@pytest.mark.parametrize(
    ("stack", "volume"),
    [
        ("small", {"persistentVolumeClaim": {"claimName": "controller-state"}}),
        ("munge", {"persistentVolumeClaim": {"claimName": "controller-state"}}),
        ("slurm", {"persistentVolumeClaim": {"claimName": "queue"}}),
        ("given", {"hostPath": {"path": "/srv/state", "type": "DirectoryOrCreate"}}),
    ],
)
def test_the_state_is_where_the_stack_says(request: pytest.FixtureRequest, stack: str, volume: dict[str, Any]) -> None:
    made: Made = request.getfixturevalue(stack)
    assert made.pod("StatefulSet", "controller").volumes["state"] == {"name": "state", **volume}
    assert ("controller-state" in made.names("PersistentVolumeClaim")) == (stack in ("small", "munge"))


def test_the_state_is_claimed_for_one_node_of_the_default_class_unless_one_is_named(small: Made, munge: Made) -> None:
    assert small("PersistentVolumeClaim", "controller-state").spec == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "10Gi"}},
    }
    assert munge("PersistentVolumeClaim", "controller-state").spec == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "5Gi"}},
        "storageClassName": "fast",
    }


def test_users_are_read_from_the_shared_root_and_nothing_is_written_to_it(made: Made) -> None:
    for container in made.pod("StatefulSet", "controller").containers.values():
        for path, mount in mounts(container).items():
            if path.startswith("/mnt/jail"):
                assert mount["readOnly"] is True, f"{container['name']} {path}"
    assert mounts(slurmctld(made))["/mnt/jail"]["name"] == "jail"


def test_its_files_come_from_the_config_map_as_a_whole_so_that_a_change_reaches_it(made: Made) -> None:
    mount = mounts(slurmctld(made))["/etc/slurm"]
    assert mount["readOnly"] is True
    assert "subPath" not in mount  # such a mount is never refreshed
    pod = made.pod("StatefulSet", "controller")
    assert pod.volumes[mount["name"]]["configMap"] == {"name": "slurm-config"}
    assert made.waits_for(pod.workload, made("ConfigMap", "slurm-config"))


def test_a_changed_file_does_not_restart_it(small: Made, slurm: Made) -> None:
    """No digest of them stands in its pod."""
    for made in (small, slurm):
        assert set(made.pod("StatefulSet", "controller").metadata["annotations"]) == {
            "slipway/auth-key",
            "slipway/jwt-key",
        }


def test_munge_is_up_before_slurmctld(munge: Made, slurm: Made) -> None:
    with_munge, without = (made.pod("StatefulSet", "controller") for made in (munge, slurm))
    assert with_munge.init_containers["munge"]["restartPolicy"] == "Always"
    assert "munge" not in without.containers


def test_only_slurms_own_authentication_is_told_where_its_key_is(munge: Made, slurm: Made) -> None:
    assert slurmctld(munge).get("env", []) == []
    assert slurmctld(slurm)["env"] == [{"name": "SLURM_SACK_KEY", "value": "/etc/slurm-keys/slurm.key"}]
    assert mounts(slurmctld(slurm))["/mnt/keys"]["readOnly"] is True


def test_it_gets_the_size_that_the_stack_states_and_the_time_to_save_its_state(munge: Made) -> None:
    assert slurmctld(munge)["resources"]["limits"] == {"cpu": "1500m", "memory": "2048Mi"}
    assert munge.pod("StatefulSet", "controller").spec["terminationGracePeriodSeconds"] >= 60


def test_a_pod_that_is_not_ready_does_not_stop_an_update(made: Made) -> None:
    """Whether Slurm works is verified on Slurm itself, by the command that follows."""
    for kind, name in (("StatefulSet", "controller"), ("Service", "controller")):
        assert made(kind, name).metadata["annotations"]["pulumi.com/skipAwait"] == "true"


def test_room_is_kept_elsewhere_only_where_that_is_asked_for(small: Made, munge: Made) -> None:
    assert not small.of("Deployment")
    assert not small.of("PriorityClass")
    assert munge.names("Deployment") >= {"controller-standby"}


def test_the_placeholder_holds_what_the_controller_needs(munge: Made) -> None:
    [pause] = munge.pod("Deployment", "controller-standby").spec["containers"]
    assert pause["image"] == slurmctld(munge)["image"]
    assert pause["resources"] == slurmctld(munge)["resources"]
    assert pause["command"] == ["sleep", "infinity"]
    assert pause["securityContext"]["runAsNonRoot"] is True


def test_the_placeholder_is_never_where_the_controller_is(munge: Made) -> None:
    spec = munge.pod("Deployment", "controller-standby").spec
    [rule] = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    wanted = rule["labelSelector"]["matchLabels"].items()
    assert [str(pod) for pod in munge.pods() if wanted <= pod.labels.items()] == ["StatefulSet controller"]


def test_the_controller_asks_to_be_apart_too_so_that_kubernetes_looks_again_when_the_placeholder_ends(
    munge: Made,
) -> None:
    spec = munge.pod("StatefulSet", "controller").spec
    [rule] = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    wanted = rule["labelSelector"]["matchLabels"].items()
    assert [str(pod) for pod in munge.pods() if wanted <= pod.labels.items()] == ["Deployment controller-standby"]


def test_anything_may_take_the_placeholders_room_and_it_takes_nobodys(munge: Made) -> None:
    spec = munge.pod("Deployment", "controller-standby").spec
    [priority] = munge.of("PriorityClass")
    assert spec["priorityClassName"] == priority.metadata["name"]
    assert priority.inputs["value"] < 0
    assert priority.inputs["preemptionPolicy"] == "Never"
    assert not priority.inputs.get("globalDefault")
    assert spec["terminationGracePeriodSeconds"] == 0


def test_a_changed_placeholder_needs_no_room_beside_the_old_one(munge: Made) -> None:
    """Both would ask for the same room, and Kubernetes would never end the old one for the new."""
    assert munge("Deployment", "controller-standby").spec["strategy"] == {"type": "Recreate"}


def test_the_placeholders_priority_belongs_to_one_cluster(munge: Made) -> None:
    """Priority classes have no namespace, and two clusters in one Kubernetes must not share one."""
    [priority] = munge.of("PriorityClass")
    assert munge.settings.cluster.namespace in priority.metadata["name"]
