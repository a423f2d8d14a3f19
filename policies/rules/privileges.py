"""Rights on the Kubernetes nodes only where the design needs them, container by container."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policies.reading import Container, Pod, Resource, Stack, pod_of
from policies.rule import Rule, Settings

HOST = ("hostNetwork", "hostPID", "hostIPC")
# slurmd mounts file systems, follows and limits the processes of jobs, and starts them as any user.
PRIVILEGED = ("worker/slurmd",)
# Files of any owner in the shared root.
_JAIL = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "MKNOD", "SETFCAP")
_FOLDER = ("CHOWN", "DAC_OVERRIDE", "FOWNER")
CAPABILITIES: Mapping[str, Sequence[str]] = {
    # Give a daemon a folder of its own on a volume that comes as root's; they have ended before the daemon starts.
    "controller/state": _FOLDER,
    "accounting/archive": _FOLDER,
    "database/data": _FOLDER,
    # Mounts into the shared root that its users see, and becomes the one who logs in.
    "login/sshd": (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE"),
        *("SETGID", "SETUID", "SYS_ADMIN", "SYS_CHROOT"),
    ),
    "populate-jail/populate-jail": _JAIL,
    "apply-users/apply-users": _JAIL,
}
_BRIDGE = ("bridge-scheduler", "bridge-controllers", "bridge-admission", "bridge-steward")
NOT_ROOT = ("controller", "controller-standby", "rest", "accounting", "database", *_BRIDGE)
ROOT_ALLOWED = ("controller/state", "accounting/archive", "database/data")


def check(resource: Resource, stack: Stack, settings: Settings) -> Iterator[str]:
    pod = pod_of(resource)
    if pod is None:
        return
    for key in HOST:
        if pod.spec.get(key):
            yield f"{pod} sets {key}: no pod of the cluster needs it. Take it away."
    cluster = stack.cluster_of(resource)
    paths = {*(cluster.props["hostPaths"] if cluster else ()), *settings["hostPaths"]}
    for volume in pod.volumes:
        path = (volume.get("hostPath") or {}).get("path")
        if path is not None and path not in paths:
            yield (
                f"{pod} mounts {path} of its node (volume {volume.get('name')}). Only what `storage`, `submounts` of a "
                "NodeSet, `controller.state` and `accounting` name as hostPath may be mounted: name it there, or use a "
                "claim."
            )
    for container in pod.containers:
        yield from _container(pod, container, settings)
        if pod.role in NOT_ROOT:
            yield from _harmless(pod, container)


def _container(pod: Pod, container: Container, settings: Settings) -> Iterator[str]:
    place = f"{pod.role}/{container.name}"
    where = f"{pod}, container {container.name}"
    if container.security.get("privileged") and place not in (*PRIVILEGED, *settings["privileged"]):
        yield (
            f"{where} is privileged, and only {', '.join(PRIVILEGED)} may be. Take it away, or allow {place} in the "
            "policy config (privileges.privileged)."
        )
    added = (container.security.get("capabilities") or {}).get("add") or ()
    allowed = {*CAPABILITIES.get(place, ()), *settings["capabilities"].get(place, ())}
    if more := sorted({str(each).removeprefix("CAP_") for each in added} - allowed):
        yield (
            f"{where} adds the capabilities {', '.join(more)}, which the design does not give it. Take them away, or "
            f"allow them for {place} in the policy config (privileges.capabilities)."
        )


def _harmless(pod: Pod, container: Container) -> Iterator[str]:
    """What speaks to everyone and needs nothing of the node: not root, and unable to change its own programs."""
    where = f"{pod}, container {container.name}"
    of_pod: Mapping[str, Any] = pod.spec.get("securityContext") or {}
    if container.security.get("readOnlyRootFilesystem") is not True:
        yield f"{where} can write to its root file system. Set readOnlyRootFilesystem, and mount a volume to write to."
    if f"{pod.role}/{container.name}" in ROOT_ALLOWED:
        return
    user = container.security.get("runAsUser", of_pod.get("runAsUser"))
    if container.security.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is not True or user == 0:
        yield f"{where} may run as root. Set runAsNonRoot, and a runAsUser other than 0."
    if container.security.get("allowPrivilegeEscalation") is not False:
        yield f"{where} may gain rights that it does not start with. Set allowPrivilegeEscalation: false."


_PLACES = "as role/container, such as worker/slurmd"
RULES = [
    Rule(
        name="privileges",
        about="Rights on the nodes only where the design names them; controller, REST and accounting never as root.",
        check=check,
        page="privileges.md",
        settings={
            "privileged": {
                "type": "array",
                "description": f"Further containers that may be privileged, {_PLACES}.",
                "items": {"type": "string"},
                "default": [],
                "examples": [["worker/device-setup"]],
            },
            "capabilities": {
                "type": "object",
                "description": f"Further capabilities by the container that may add them, {_PLACES}.",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
                "default": {},
                "examples": [{"login/sshd": ["SYS_PTRACE"]}],
            },
            "hostPaths": {
                "type": "array",
                "description": "Further paths of the nodes that pods may mount, beside those that the stack declares.",
                "items": {"type": "string"},
                "default": [],
                "examples": [["/dev/infiniband"]],
            },
        },
    )
]
