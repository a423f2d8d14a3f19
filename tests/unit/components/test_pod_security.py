"""Which of Kubernetes' Pod Security Standards each pod keeps, and that the threat model says so.

https://kubernetes.io/docs/concepts/security/pod-security-standards"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.unit.components.deployed import Made, Pod

PAGE = Path(__file__).parents[3] / "docs" / "threat-model.md"
BASELINE_CAPABILITIES = {
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
}
RESTRICTED_VOLUMES = {"configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
LEVELS = ("restricted", "baseline", "privileged")
HOST = ("hostNetwork", "hostPID", "hostIPC")


def above_baseline(pod: Pod) -> Iterator[str]:
    """What the standard `baseline` forbids. Folders of nodes are left out: only a stack that names one has them."""
    yield from (key for key in HOST if pod.spec.get(key))
    for name, container in pod.containers.items():
        context: dict[str, Any] = container.get("securityContext", {})
        if context.get("privileged"):
            yield f"{name} is privileged"
        for kind in ("seccompProfile", "appArmorProfile"):
            if context.get(kind, {}).get("type") == "Unconfined":
                yield f"{name} has no {kind}"
        for capability in set(context.get("capabilities", {}).get("add", [])) - BASELINE_CAPABILITIES:
            yield f"{name} has {capability}"
        yield from (f"{name} has a port of the node" for port in container.get("ports", []) if port.get("hostPort"))


def above_restricted(pod: Pod) -> Iterator[str]:
    """What the standard `restricted` forbids beside it."""
    for name, volume in pod.volumes.items():
        if not set(volume) - {"name", "hostPath", "nfs"} <= RESTRICTED_VOLUMES:
            yield f"volume {name}"
    for name, container in pod.containers.items():
        context: dict[str, Any] = container.get("securityContext", {})
        capabilities = context.get("capabilities", {})
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{name} may get more rights"
        if context.get("runAsNonRoot") is not True or context.get("runAsUser") == 0:
            yield f"{name} is root"
        if "ALL" not in capabilities.get("drop", []) or set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
            yield f"{name} has capabilities"
        if context.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{name} has no seccomp profile"


def level(pod: Pod) -> str:
    if any(above_baseline(pod)):
        return "privileged"
    return "baseline" if any(above_restricted(pod)) else "restricted"


def stated() -> dict[str, str]:
    """Levels by the label of the pods, as the page has them."""
    rows = re.findall(r"^\| ([`a-z, -]+) \| (privileged|baseline|restricted) \|", PAGE.read_text(), re.MULTILINE)
    return {pod: known for pods, known in rows for pod in re.findall(r"`([a-z-]+)`", pods)}


def test_no_pod_of_any_stack_needs_more_than_the_threat_model_states(made: Made) -> None:
    known = stated()
    for pod in made.pods():
        why = [*above_baseline(pod), *above_restricted(pod)]
        allowed = LEVELS.index(known[pod.labels["app.kubernetes.io/name"]])
        assert LEVELS.index(level(pod)) <= allowed, f"{pod}: {', '.join(why)}"


def test_stacks_with_everything_need_what_the_threat_model_states(munge: Made, bridged: Made) -> None:
    found = [*munge.pods(), *bridged.pods()]
    assert {pod.labels["app.kubernetes.io/name"]: level(pod) for pod in found} == stated()
