"""The pods that users ssh into, and how they are reached."""

from pathlib import Path
from typing import Any

from components.login import _command
from tests.unit.components.deployed import Made, settings_of

HOUSE = Path(__file__).parents[3]


def sshd(made: Made) -> dict[str, Any]:
    [container] = made.pod("StatefulSet", "login").spec["containers"]
    assert container["name"] == "sshd"
    return container


def test_a_port_of_the_nodes_leads_to_sshd(small: Made, given: Made) -> None:
    service = small("Service", "login").spec
    assert service["type"] == "NodePort"
    assert service["ports"] == [{"name": "ssh", "port": 22, "targetPort": 22}]  # Kubernetes picks the nodes' port
    fixed = given("Service", "login").spec
    assert fixed["ports"] == [{"name": "ssh", "port": 22, "targetPort": 22, "nodePort": 30022}]


def test_a_load_balancer_lets_in_whom_the_stack_says(munge: Made) -> None:
    service = munge("Service", "login")
    assert service.spec["type"] == "LoadBalancer"
    assert service.spec["loadBalancerSourceRanges"] == ["192.0.2.0/24", "2001:db8::/32"]
    assert service.metadata["annotations"] == {"example.com/internal": "true"}


def test_a_cluster_ip_is_reached_from_inside_only(slurm: Made) -> None:
    service = slurm("Service", "login").spec
    assert service["type"] == "ClusterIP"
    assert service["ports"] == [{"name": "ssh", "port": 2222, "targetPort": 22}]
    assert not {"externalTrafficPolicy", "loadBalancerSourceRanges"} & set(service)


def test_a_user_comes_back_to_the_same_pod(made: Made) -> None:
    assert made("Service", "login").spec["sessionAffinity"] == "ClientIP"


def test_the_service_finds_only_pods_that_serve_and_each_pod_has_a_name_from_the_start(made: Made) -> None:
    assert not made("Service", "login").spec.get("publishNotReadyAddresses")
    pods = made("Service", "login-pods").spec
    assert pods["clusterIP"] == "None"
    assert pods["publishNotReadyAddresses"] is True
    assert made("StatefulSet", "login").spec["serviceName"] == "login-pods"


def test_several_pods_have_one_host_key(munge: Made) -> None:
    assert munge("StatefulSet", "login").spec["replicas"] == 2
    assert munge("StatefulSet", "login").spec["podManagementPolicy"] == "Parallel"
    [mount] = [each for each in sshd(munge)["volumeMounts"] if each["mountPath"] == "/mnt/host-keys"]
    assert mount["readOnly"] is True
    secret = munge.pod("StatefulSet", "login").volumes[mount["name"]]["secret"]
    assert secret["secretName"] == "ssh-host-keys"
    assert secret["defaultMode"] == 0o400  # sshd refuses one that others can read


def test_the_host_key_is_seen_by_sshd_alone(made: Made) -> None:
    for pod in made.pods():
        for name, container in pod.containers.items():
            secrets = {
                pod.volumes[mount["name"]].get("secret", {}).get("secretName")
                for mount in container.get("volumeMounts", [])
            }
            assert "ssh-host-keys" not in secrets or name == "sshd", f"{pod}, {name}"


def test_sshd_is_not_privileged(made: Made) -> None:
    context = sshd(made)["securityContext"]
    assert not context.get("privileged")
    assert context["capabilities"]["drop"] == ["ALL"]
    more = {"ALL", "NET_ADMIN", "NET_RAW", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "BPF", "SYS_BOOT", "SYS_TIME"}
    assert not more & set(context["capabilities"]["add"])


def test_the_configuration_comes_from_slurmctld_and_only_then_users_come_in(munge: Made, slurm: Made) -> None:
    assert list(munge.pod("StatefulSet", "login").init_containers) == ["munge", "sackd"]
    assert list(slurm.pod("StatefulSet", "login").init_containers) == ["sackd"]
    sackd = munge.pod("StatefulSet", "login").init_containers["sackd"]
    assert sackd["restartPolicy"] == "Always"
    assert sackd["env"] == [
        {"name": "SLURM_CONTROLLER", "value": "controller-0.controller.science.svc.cluster.local:6817"}
    ]
    assert "until [ -e /run/slurm/conf/slurm.conf ]" in (HOUSE / "images" / "login" / "sshd").read_text()
    assert sackd["securityContext"]["runAsNonRoot"] is True


def test_nobody_logs_in_before_the_users_are_there(made: Made) -> None:
    stateful_set = made("StatefulSet", "login")
    assert made.waits_for(stateful_set, made("Job", "apply-users"))
    assert made.waits_for(stateful_set, made("Job", "populate-jail"))


def test_the_pods_get_the_size_that_the_stack_states_and_spread(munge: Made) -> None:
    assert sshd(munge)["resources"]["limits"] == {"cpu": "2", "memory": "4096Mi"}
    pod = munge.pod("StatefulSet", "login")
    [spread] = pod.spec["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["labelSelector"]["matchLabels"].items() <= pod.labels.items()


def test_a_session_finds_its_own_tmp_and_the_shared_root(munge: Made) -> None:
    places = {each["mountPath"]: each for each in sshd(munge)["volumeMounts"]}
    assert {"/mnt/jail", "/mnt/jail/home", "/mnt/tmp", "/run"} <= set(places)
    assert "emptyDir" in munge.pod("StatefulSet", "login").volumes[places["/mnt/tmp"]["name"]]


def test_the_stack_prints_what_its_first_user_types(small: Made, munge: Made, slurm: Made, given: Made) -> None:
    assert small.outputs["ssh"] == "ssh -p 31234 alice@<any node>"  # the port that Kubernetes has picked
    assert munge.outputs["ssh"] == "ssh alice@192.0.2.10"  # the load balancer's address
    assert slurm.outputs["ssh"] == "ssh -p 2222 alice@login.example.com"
    assert given.outputs["ssh"] == "ssh -p 30022 <user>@lab.example.com"


def test_no_command_is_printed_for_what_cannot_be_reached() -> None:
    settings = settings_of(login={"service": {"type": "ClusterIP"}})
    assert _command(settings, ({"ports": [{}]}, {})) is None


def test_sessions_have_the_limits_that_are_stated_and_else_nothing_is_said_of_them(munge: Made, small: Made) -> None:
    [sshd] = munge.pod("StatefulSet", "login").spec["containers"]
    assert {"name": "LIMITS", "value": "nproc=2048 core=0"} in sshd["env"]
    [sshd] = small.pod("StatefulSet", "login").spec["containers"]
    assert "env" not in sshd
