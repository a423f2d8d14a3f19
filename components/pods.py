"""What all pods of the cluster have in common: labels, the node filter, who they run as, what they mount."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import (
    ContainerArgsDict,
    EnvVarArgsDict,
    PodSpecArgsDict,
    ResourceRequirementsArgsDict,
    SecurityContextArgsDict,
    TopologySpreadConstraintArgsDict,
    VolumeArgsDict,
    VolumeMountArgsDict,
)

from config import Settings
from config.limits import Limits
from config.types import CpuQuantity, MemorySize
from slurm import places

SLURM_ID = 64030  # Debian's fixed uid and gid of the user slurm
JAIL = places.JAIL
ONE_CPU = CpuQuantity(1000)
SCRIPTS = "/usr/local/lib/slipway"

CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"}

# Nothing that its job does not need: for every container but those that mount the shared root.
RESTRICTED: SecurityContextArgsDict = {
    "allow_privilege_escalation": False,
    "read_only_root_filesystem": True,
    "run_as_non_root": True,
    "run_as_user": SLURM_ID,
    "run_as_group": SLURM_ID,
    "capabilities": {"drop": ["ALL"]},
    "seccomp_profile": {"type": "RuntimeDefault"},
}
# As root, for files that belong to it, and nothing else.
ROOT: SecurityContextArgsDict = {
    "allow_privilege_escalation": False,
    "read_only_root_filesystem": True,
    "run_as_user": 0,
    "capabilities": {"drop": ["ALL"]},
    "seccomp_profile": {"type": "RuntimeDefault"},
}


def labels(settings: Settings, component: str) -> dict[str, str]:
    """Labels that tell the pods of one component from all others."""
    return {
        "app.kubernetes.io/part-of": "slipway",
        "app.kubernetes.io/instance": settings.cluster.name,
        "app.kubernetes.io/name": component,
    }


def template_metadata(
    settings: Settings, component: str, node_filter: str, annotations: Mapping[str, pulumi.Input[str]] | None = None
) -> Any:
    """Metadata of a pod template. The filter's name is a label, so that rules and people can see which one is meant."""
    return {
        "labels": {**labels(settings, component), "slipway/node-filter": node_filter},
        "annotations": dict(annotations or {}),
    }


def placed(settings: Settings, node_filter: str, spec: PodSpecArgsDict) -> PodSpecArgsDict:
    """The pod with its node filter. Whatever the filter says, a control-plane node is never used."""
    chosen = settings.node_filters[node_filter]
    tolerations = [each.model_dump(by_alias=True, exclude_none=True) for each in chosen.tolerations]
    return {
        "node_selector": chosen.node_selector,
        "affinity": _off_the_control_plane(chosen.affinity),
        "tolerations": tolerations,
        "automount_service_account_token": False,  # who talks to Kubernetes mounts a token of its own
        "enable_service_links": False,  # no variables in a user's environment that speak of Kubernetes
        **spec,
    }  # pyright: ignore[reportReturnType] -- the user's own affinity and tolerations are in Kubernetes' words


def _off_the_control_plane(affinity: Mapping[str, Any]) -> dict[str, Any]:
    """The filter's affinity with one more condition in each of its alternatives."""
    kept = "requiredDuringSchedulingIgnoredDuringExecution"
    nodes = affinity.get("nodeAffinity", {})
    terms = nodes.get(kept, {}).get("nodeSelectorTerms") or [{}]
    terms = [{**term, "matchExpressions": [*term.get("matchExpressions", []), CONTROL_PLANE]} for term in terms]
    return {**affinity, "nodeAffinity": {**nodes, kept: {"nodeSelectorTerms": terms}}}


def resources(cpu: str, memory: MemorySize | str, **more: str) -> ResourceRequirementsArgsDict:
    """The same as request and limit, so that nobody is in for a surprise when a node is full."""
    amount = {"cpu": cpu, "memory": memory if isinstance(memory, str) else f"{memory.mib}Mi", **more}
    return {"requests": amount, "limits": amount}


def bursting(idle_mib: int, cpus: CpuQuantity, memory: MemorySize) -> ResourceRequirementsArgsDict:
    """Little to wait for requests with, and more for the time that a large answer takes."""
    return {
        "requests": {"cpu": str(cpus), "memory": f"{min(idle_mib, memory.mib)}Mi"},
        "limits": {"cpu": str(max(cpus, ONE_CPU)), "memory": f"{memory.mib}Mi"},
    }


def env(values: Mapping[str, str]) -> list[EnvVarArgsDict]:
    """Variables with plain values."""
    return [{"name": name, "value": value} for name, value in values.items()]


def auth_env(settings: Settings) -> dict[str, str]:
    """Where Slurm's own daemons find the key, with auth/slurm."""
    return dict([places.SLURM_KEY]) if settings.cluster.auth == "slurm" else {}


def limits_env(limits: Limits) -> dict[str, str]:
    """What the processes of users may use at the most, for `images/common/slipway/limits`."""
    stated = " ".join(f"{name}={value}" for name, value in limits.stated.items())
    return {"LIMITS": stated} if stated else {}


def keys_for(settings: Settings, *more: str) -> list[str]:
    """Which keys of the Secret a pod needs."""
    return [f"{settings.cluster.auth}.key", *more]


# For containers that copy their keys before their daemons read them (`images/common/slipway/keys`).
OWN_KEYS: list[VolumeMountArgsDict] = [
    {"name": "secret", "mount_path": "/mnt/keys", "read_only": True},
    {"name": "keys", "mount_path": places.KEYS},
]


def munge_sidecar(image: str, context: SecurityContextArgsDict, memory: str = "16Mi") -> ContainerArgsDict:
    """munged, up before everything that talks to Slurm and until after it: a native sidecar. It remembers for five
    minutes every message that it has seen."""
    return {
        "name": "munge",
        "image": image,
        "command": [f"{SCRIPTS}/munged"],
        "restart_policy": "Always",
        "resources": resources("50m", memory),
        # What comes next waits for it. A probe would see it up to a second later.
        "lifecycle": {
            "post_start": {
                "exec_": {"command": ["sh", "-c", "until munge --no-input; do sleep 0.05; done > /dev/null 2>&1"]}
            }
        },
        "security_context": context,
        "volume_mounts": [RUN, *OWN_KEYS],
    }


RUN: VolumeMountArgsDict = {"name": "run", "mount_path": "/run"}
# For containers whose /dev users see: Kubernetes' own choice is a file in it.
TERMINATION_LOG = "/run/termination-log"


def key_volumes(secret: Any, keys: Sequence[str], mode: int = 0o444) -> list[VolumeArgsDict]:
    """The Secret's keys that a pod needs, and where their copies go. Kubernetes gives the Secret to root, so that
    daemons of others can copy it only if all may read it; where users' processes are, they are root's."""
    return [
        {
            "name": "secret",
            "secret": {
                "secret_name": secret,
                "default_mode": mode,
                "items": [{"key": key, "path": key} for key in keys],
            },
        },
        {"name": "keys", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
        {"name": "run", "empty_dir": {"medium": "Memory", "size_limit": "64Mi"}},
    ]


def spread(labels: Mapping[str, str]) -> list[TopologySpreadConstraintArgsDict]:
    """Pods of a kind on as many Kubernetes nodes as there are, without waiting for one that is free."""
    return [
        {
            "max_skew": 1,
            "topology_key": "kubernetes.io/hostname",
            "when_unsatisfiable": "ScheduleAnyway",
            "label_selector": {"match_labels": labels},
        }
    ]


def own_folder(
    volume: str, image: str, size: ResourceRequirementsArgsDict, folder: str, owner: int = SLURM_ID
) -> ContainerArgsDict:
    """An init container named as its volume: makes a folder on it that belongs to one daemon alone, as daemons ask for
    one that nobody else can write to.

    As root, since many kinds of volumes come with a root that is root's, whatever group the pod asks for."""
    path = f"/mnt/{volume}/{folder}"
    return {
        "name": volume,
        "image": image,
        "command": ["sh", "-ec", f"mkdir -p {path}; chown {owner}:{owner} {path}; chmod 700 {path}"],
        "resources": size,
        "security_context": {
            **ROOT,
            "run_as_group": 0,
            "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]},
        },
        "volume_mounts": [{"name": volume, "mount_path": f"/mnt/{volume}"}],
    }
