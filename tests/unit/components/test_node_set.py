"""Workers: one StatefulSet and one headless Service for each NodeSet."""

from typing import Any

import pytest

from config import Settings
from slurm.moves import moves, places
from slurm.nodes import hardware
from tests.unit.components.deployed import Made

NODE_SETS = ("worker", "gpu", "burst")


def slurmd(made: Made, name: str) -> dict[str, Any]:
    [container] = made.pod("StatefulSet", name).spec["containers"]
    assert container["name"] == "slurmd"
    return container


def env(container: dict[str, Any]) -> dict[str, Any]:
    """Variables by name: a text, or the path of the pod's field that they are taken from."""
    return {
        each["name"]: each["value"] if "value" in each else each["valueFrom"]["fieldRef"]["fieldPath"]
        for each in container["env"]
    }


def test_there_is_a_stateful_set_and_a_headless_service_by_the_name_of_each(munge: Made) -> None:
    assert munge.names("StatefulSet") >= set(NODE_SETS)
    for name in NODE_SETS:
        service = munge("Service", name).spec
        assert service["clusterIP"] == "None"
        assert service["publishNotReadyAddresses"] is True  # slurmctld looks a node up before it is ready
        assert [port["port"] for port in service["ports"]] == [6818]
        assert munge("StatefulSet", name).spec["serviceName"] == name
    assert munge.outputs["nodeSets"] == {name: f"{name}.science.svc.cluster.local" for name in NODE_SETS}


def test_as_many_pods_run_as_the_stack_says(munge: Made, given: Made) -> None:
    assert {name: munge("StatefulSet", name).spec["replicas"] for name in NODE_SETS} == {
        "worker": 2,
        "gpu": 1,
        "burst": 3,
    }
    assert given("StatefulSet", "worker").spec["replicas"] == 0


@pytest.mark.parametrize("name", NODE_SETS)
def test_workers_start_at_once_and_are_never_restarted_behind_their_jobs_backs(munge: Made, name: str) -> None:
    stateful_set = munge("StatefulSet", name)
    assert stateful_set.spec["podManagementPolicy"] == "Parallel"
    assert stateful_set.spec["updateStrategy"] == {"type": "OnDelete"}
    assert stateful_set.metadata["annotations"]["pulumi.com/skipAwait"] == "true"


@pytest.mark.parametrize("name", NODE_SETS)
def test_a_worker_is_told_who_and_where_it_is(munge: Made, name: str) -> None:
    told = env(slurmd(munge, name))
    assert told["K8S_POD_NAME"] == "metadata.name"
    assert told["K8S_POD_NAMESPACE"] == "metadata.namespace"
    assert told["K8S_NODE_NAME"] == "spec.nodeName"
    assert told["K8S_SERVICE_NAME"] == name
    assert told["SLURM_CLUSTER_NAME"] == "hpc"
    assert told["SLURM_CONTROLLER"] == "controller-0.controller.science.svc.cluster.local:6817"


def test_munge_runs_beside_slurmd_until_after_it_has_ended_and_only_where_it_is_used(munge: Made, slurm: Made) -> None:
    for name in NODE_SETS:
        sidecar = munge.pod("StatefulSet", name).init_containers["munge"]
        assert sidecar["restartPolicy"] == "Always"
        assert "munge" not in slurm.pod("StatefulSet", name).containers


def test_only_slurms_own_authentication_is_told_where_its_key_is(munge: Made, slurm: Made) -> None:
    for name in NODE_SETS:
        assert "SLURM_SACK_KEY" not in env(slurmd(munge, name))
        assert env(slurmd(slurm, name))["SLURM_SACK_KEY"] == "/etc/slurm-keys/slurm.key"


def test_nothing_but_munge_comes_before_slurmd_as_each_container_takes_a_second(munge: Made, slurm: Made) -> None:
    for name in NODE_SETS:
        assert list(munge.pod("StatefulSet", name).init_containers) == ["munge"]
        assert not slurm.pod("StatefulSet", name).init_containers


def test_a_worker_that_waits_for_its_controller_counts_as_not_started_for_a_day(munge: Made) -> None:
    for name in NODE_SETS:
        probe = slurmd(munge, name)["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] >= 24 * 60 * 60


def test_a_key_is_mounted_only_where_a_daemon_copies_it(munge: Made, slurm: Made) -> None:
    for name in NODE_SETS:
        for made, daemon in ((munge, "munge"), (slurm, "slurmd")):
            pod = made.pod("StatefulSet", name)
            holders = {
                each for each, container in pod.containers.items() if "/mnt/keys" in str(container["volumeMounts"])
            }
            assert holders == {daemon}


def test_a_dynamic_node_says_what_it_has_and_a_static_one_stands_in_the_file(munge: Made) -> None:
    burst = hardware("burst", munge.settings.node_sets["burst"])
    said = env(slurmd(munge, "burst"))["SLURM_NODE_CONF"]
    assert dict(word.split("=", 1) for word in said.split()) == burst
    assert burst["RealMemory"] == "3072"
    assert burst["Feature"] == "burst,spot"
    for name in ("worker", "gpu"):
        assert "SLURM_NODE_CONF" not in env(slurmd(munge, name))


def test_gpus_are_asked_for_once_by_slurmd(munge: Made) -> None:
    assert slurmd(munge, "gpu")["resources"]["limits"] == {"cpu": "8", "memory": "65536Mi", "nvidia.com/gpu": "4"}
    for pod in munge.pods():
        for name, container in pod.containers.items():
            asks = "nvidia.com/gpu" in container["resources"]["requests"]
            assert asks == (str(pod) == "StatefulSet gpu" and name == "slurmd"), f"{pod}, {name}"


@pytest.mark.parametrize("name", NODE_SETS)
def test_a_workers_pod_is_guaranteed_what_slurm_hands_out(munge: Made, name: str) -> None:
    """Kubernetes calls a pod `Guaranteed` if each of its containers has limits, and asks for as much."""
    wanted = munge.settings.all_node_sets[name]
    for container in munge.pod("StatefulSet", name).containers.values():
        assert container["resources"]["requests"] == container["resources"]["limits"]
    limits = slurmd(munge, name)["resources"]["limits"]
    assert limits["cpu"] == str(wanted.cpus)
    assert limits["memory"] == f"{wanted.memory.mib}Mi"


@pytest.mark.parametrize("name", NODE_SETS)
def test_what_runs_before_slurmd_asks_for_no_more_than_slurmd(munge: Made, name: str) -> None:
    """Else the pod would need a larger node than the NodeSet says."""
    limits = slurmd(munge, name)["resources"]["limits"]
    for container in munge.pod("StatefulSet", name).init_containers.values():
        if "restartPolicy" not in container:
            asked = container["resources"]["limits"]
            assert asked["cpu"] == limits["cpu"] or asked["cpu"].endswith("m")
            assert int(asked["memory"].removesuffix("Mi")) <= int(limits["memory"].removesuffix("Mi"))


def test_jobs_have_the_grace_period_to_end_and_the_pod_knows_how_long_it_is(munge: Made) -> None:
    for name, seconds in {"worker": 90, "gpu": 60}.items():
        assert munge.pod("StatefulSet", name).spec["terminationGracePeriodSeconds"] == seconds
        container = slurmd(munge, name)
        assert env(container)["GRACE_SECONDS"] == str(seconds)
        assert container["lifecycle"]["preStop"]["exec"]["command"] == ["/usr/local/sbin/stop"]


@pytest.mark.parametrize("name", NODE_SETS)
def test_workers_of_a_node_set_spread_over_the_nodes_where_they_can(munge: Made, name: str) -> None:
    pod = munge.pod("StatefulSet", name)
    [spread] = pod.spec["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["maxSkew"] == 1
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
    assert spread["labelSelector"]["matchLabels"].items() <= pod.labels.items()
    others = [each for each in munge.pods() if spread["labelSelector"]["matchLabels"].items() <= each.labels.items()]
    assert [str(each) for each in others] == [f"StatefulSet {name}"]


def test_a_job_finds_its_own_tmp_and_shared_memory_and_the_shared_root(small: Made) -> None:
    places = {each["mountPath"]: each for each in slurmd(small, "worker")["volumeMounts"]}
    assert {"/mnt/jail", "/mnt/tmp", "/dev/shm", "/var/spool/slurmd", "/run"} <= set(places)
    volumes = small.pod("StatefulSet", "worker").volumes
    assert volumes[places["/dev/shm"]["name"]]["emptyDir"]["medium"] == "Memory"
    assert "emptyDir" in volumes[places["/mnt/tmp"]["name"]]


def test_only_slurmd_writes_to_the_shared_root(munge: Made) -> None:
    for container in munge.pod("StatefulSet", "worker").init_containers.values():
        for mount in container["volumeMounts"]:
            assert mount.get("readOnly") or not mount["mountPath"].startswith("/mnt/jail"), container["name"]


def test_each_node_set_has_its_own_shared_memory(munge: Made) -> None:
    assert munge.pod("StatefulSet", "gpu").volumes["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "32Gi"}
    assert munge.pod("StatefulSet", "worker").volumes["shm"]["emptyDir"] == {"medium": "Memory"}


def test_private_folders_of_jobs_are_on_a_volume_and_only_where_they_are_wanted(munge: Made, slurm: Made) -> None:
    places = {each["mountPath"]: each["name"] for each in slurmd(slurm, "worker")["volumeMounts"]}
    assert "emptyDir" in slurm.pod("StatefulSet", "worker").volumes[places["/var/spool/slurm-private"]]
    assert "/var/spool/slurm-private" not in {each["mountPath"] for each in slurmd(munge, "worker")["volumeMounts"]}


def test_slurmd_is_told_the_limits_of_its_jobs(munge: Made) -> None:
    assert env(slurmd(munge, "worker"))["LIMITS"] == "memlock=unlimited nofile=1048576"
    assert env(slurmd(munge, "gpu"))["LIMITS"] == "memlock=unlimited nofile=4096 stack=unlimited"


def test_a_node_set_has_volumes_of_its_own_inside_the_shared_root(munge: Made) -> None:
    pod = munge.pod("StatefulSet", "gpu")
    mounts = {each["mountPath"]: each for each in slurmd(munge, "gpu")["volumeMounts"]}
    room = mounts["/mnt/jail/scratch/local"]
    assert pod.volumes[room["name"]]["emptyDir"] == {"sizeLimit": "500Gi"}
    assert env(slurmd(munge, "gpu"))["SCRATCH"] == "/mnt/jail/scratch/local"
    assert pod.volumes[mounts["/mnt/jail/local"]["name"]]["hostPath"]["path"] == "/mnt/nvme"
    models = mounts["/mnt/jail/models"]
    assert models["readOnly"] is True
    claim = pod.volumes[models["name"]]["persistentVolumeClaim"]["claimName"]
    assert munge("PersistentVolumeClaim", claim).spec["accessModes"] == ["ReadWriteMany"]


def test_nobody_else_has_the_volumes_of_a_node_set(munge: Made) -> None:
    own = {"/mnt/jail/scratch/local", "/mnt/jail/local", "/mnt/jail/models"}
    for pod in munge.pods():
        paths = {mount["mountPath"] for each in pod.containers.values() for mount in each.get("volumeMounts", [])}
        assert paths & own == (own if str(pod) == "StatefulSet gpu" else set()), pod
    assert "SCRATCH" not in env(slurmd(munge, "worker"))


def test_the_volumes_of_a_node_set_do_not_move_but_what_keeps_nothing_may() -> None:
    def at(**source: Any) -> dict[str, str]:
        submounts = [{"mountPath": "/scratch", **source}]
        return places(Settings.model_validate({"nodeSets": {"gpu": {"submounts": submounts}}}))

    [step] = moves(at(hostPath="/a"), at(hostPath="/b"))
    assert (step.cls, step.key) == ("refused", "slipway:nodeSets.gpu.submounts /scratch")
    assert not moves(at(emptyDir={}), at(emptyDir={"sizeLimit": "1Gi"}))
    assert not moves(at(emptyDir={}), at(hostPath="/b"))
