"""Rights on the nodes only where the design names them."""

from typing import Any

import pytest

from policies.examples import (
    FIRST,
    POD,
    RESTRICTED,
    UNKNOWN,
    changed,
    cluster,
    controller,
    finding,
    findings,
    worker,
    workload,
)
from policies.rules.privileges import CAPABILITIES, RULES

ROOT = {"runAsUser": 0.0, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}


def test_what_the_design_names_passes() -> None:
    assert findings(RULES, cluster(), worker(), controller()) == []
    for place, capabilities in CAPABILITIES.items():
        role, container = place.split("/")
        pod = workload("Job", role, "system", container, {**ROOT, "capabilities": {"add": list(capabilities)}})
        assert findings(RULES, cluster(), pod) == []


@pytest.mark.parametrize("key", ["hostNetwork", "hostPID", "hostIPC"])
def test_no_pod_shares_its_nodes_own_spaces(key: str) -> None:
    assert f"sets {key}" in finding(RULES, cluster(), changed(worker(), f"{POD}.{key}", True))


def test_only_slurmd_is_privileged_and_others_by_config() -> None:
    pod = workload("StatefulSet", "login", "system", "sshd", {"privileged": True})
    assert "is privileged, and only worker/slurmd may be" in finding(RULES, cluster(), pod)
    assert findings(RULES, cluster(), pod, privileged=["login/sshd"]) == []


@pytest.mark.parametrize("name", ["SYS_PTRACE", "CAP_SYS_PTRACE"])
def test_further_capabilities_are_stopped_unless_allowed(name: str) -> None:
    pod = workload("StatefulSet", "login", "system", "sshd", {**ROOT, "capabilities": {"add": ["SYS_ADMIN", name]}})
    assert "adds the capabilities SYS_PTRACE," in finding(RULES, cluster(), pod)
    assert findings(RULES, cluster(), pod, capabilities={"login/sshd": ["SYS_PTRACE"]}) == []


def test_capabilities_of_one_container_are_not_anothers() -> None:
    pod = workload("StatefulSet", "login", "system", "sackd", {"capabilities": {"add": ["SYS_ADMIN"]}})
    assert "which the design does not give it" in finding(RULES, cluster(), pod)


def test_only_declared_paths_of_the_nodes_are_mounted() -> None:
    pod = changed(worker(), f"{POD}.volumes", [{"name": "jail", "hostPath": {"path": "/srv/jail"}}])
    assert "mounts /srv/jail of its node" in finding(RULES, cluster(), pod)
    assert findings(RULES, cluster(hostPaths=["/srv/jail"]), pod) == []
    assert findings(RULES, cluster(), pod, hostPaths=["/srv/jail"]) == []


@pytest.mark.parametrize("role", ["controller", "controller-standby", "rest", "accounting", "database"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"runAsNonRoot": False}, "may run as root"),
        ({"runAsUser": 0.0}, "may run as root"),
        ({"readOnlyRootFilesystem": False}, "can write to its root file system"),
        ({"allowPrivilegeEscalation": True}, "may gain rights"),
    ],
)
def test_what_serves_is_harmless(role: str, change: dict[str, Any], said: str) -> None:
    pod = workload("StatefulSet", role, "system", "main", {**RESTRICTED, **change})
    assert said in finding(RULES, cluster(), pod)


def test_the_one_init_container_of_the_controller_is_roots_but_read_only() -> None:
    writable = workload("StatefulSet", "controller", "system", "state", {**ROOT, "readOnlyRootFilesystem": False})
    assert "can write to its root file system" in finding(RULES, cluster(), writable)


def test_the_pods_own_context_counts() -> None:
    security = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
    pod = workload("Deployment", "rest", "system", "slurmrestd", security)
    assert findings(RULES, cluster(), changed(pod, f"{POD}.securityContext", {"runAsNonRoot": True})) == []


def test_what_is_not_known_yet_is_stopped() -> None:
    assert "known only after" in finding(RULES, cluster(), changed(worker(), f"{FIRST}.securityContext", UNKNOWN))
