"""Which fields cannot be changed in place, so that the object must be replaced: the table of the real provider.

Fields that Kubernetes itself refuses to change and that the real table does not have are in `_BEYOND`: there the real
provider tries an update and gets the API server's error.
"""

from typing import Any

from lab.plugins.kubernetes.diff import Difference, Path, parse
from lab.plugins.kubernetes.objects import Object, dig, group_of, kind_of

_VOLUME_SOURCES = (
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "csi",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "glusterfs",
    "hostPath",
    "iscsi",
    "local",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
)

_POD = (
    "affinity",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostname",
    "imagePullSecrets",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "volumes",
)

_CONTAINER = (
    "args",
    "command",
    "env",
    "image",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "resources",
    "securityContext",
    "stdin",
    "stdinOnce",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
)

_TABLE: dict[tuple[str, str], list[str]] = {
    ("apps", "StatefulSet"): [
        "spec.podManagementPolicy",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ],
    ("apps", "Deployment"): ["spec.selector"],
    ("apps", "DaemonSet"): ["spec.selector"],
    ("batch", "Job"): ["spec.completions", "spec.parallelism", "spec.selector", "spec.template"],
    ("", "PersistentVolume"): [f"spec.{source}" for source in _VOLUME_SOURCES],
    ("", "PersistentVolumeClaim"): [
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ],
    ("", "Pod"): [f"spec.{field}" for field in _POD]
    + [f"spec.{list_}[*].{field}" for list_ in ("containers", "initContainers") for field in _CONTAINER],
    ("", "ResourceQuota"): ["spec.scopes"],
    ("", "Secret"): ["type"],
    ("", "Service"): ["spec.clusterIP"],
    ("rbac.authorization.k8s.io", "RoleBinding"): ["roleRef"],
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ["roleRef"],
    ("storage.k8s.io", "StorageClass"): ["parameters", "provisioner"],
}

_BEYOND: dict[tuple[str, str], list[str]] = {
    ("apps", "ReplicaSet"): ["spec.selector"],
    ("batch", "Job"): ["spec.completionMode", "spec.manualSelector", "spec.managedBy"],
    ("", "PersistentVolumeClaim"): ["spec.volumeMode", "spec.dataSource", "spec.dataSourceRef"],
    ("", "PersistentVolume"): ["spec.volumeMode"],
    ("discovery.k8s.io", "EndpointSlice"): ["addressType"],
    ("networking.k8s.io", "IngressClass"): ["spec.controller"],
    ("node.k8s.io", "RuntimeClass"): ["handler"],
    ("scheduling.k8s.io", "PriorityClass"): ["value", "preemptionPolicy"],
    ("storage.k8s.io", "StorageClass"): ["reclaimPolicy", "volumeBindingMode"],
}

_IDENTITY = ["metadata.name", "metadata.namespace", "kind"]


def immutable_fields(old: Object, new: Object, *, config_map_mutable: bool, secret_mutable: bool) -> list[Path]:
    """Paths whose change from `old` to `new` replaces the object; `[*]` stands for any element of a list."""
    kind = (group_of(new), kind_of(new))
    fields = [*_IDENTITY, *_TABLE.get(kind, []), *_BEYOND.get(kind, [])]
    sealed = dig(new, "immutable") is True or dig(old, "immutable") is True
    if dig(old, "immutable") is True:
        fields.append("immutable")  # once set it cannot be taken back
    if kind == ("", "ConfigMap") and (sealed or not config_map_mutable):
        fields += ["data", "binaryData"]
    if kind == ("", "Secret") and (sealed or not secret_mutable):
        fields += ["data", "stringData"]
    return [parse(field) for field in fields]


def forces_replacement(difference: Difference, immutable: list[Path]) -> bool:
    """Whether the change touches one of the fields: it is below one, or what came or went contains one."""
    if difference.path == ("apiVersion",):
        return _group(difference.old) != _group(difference.new)
    return any(_touches(difference, field) for field in immutable)


def _touches(difference: Difference, field: Path) -> bool:
    shared = min(len(difference.path), len(field))
    if not all(_matches(difference.path[i], field[i]) for i in range(shared)):
        return False
    rest = field[shared:]
    return not rest or _contains(difference.old, rest) or _contains(difference.new, rest)


def _matches(part: str | int, pattern: str | int) -> bool:
    return part == pattern or (pattern == "*" and isinstance(part, int))


def _contains(value: Any, path: Path) -> bool:
    if not path:
        return value is not None
    if isinstance(value, list) and path[0] == "*":
        return any(_contains(item, path[1:]) for item in value)
    return isinstance(value, dict) and path[0] in value and _contains(value[path[0]], path[1:])


def _group(api_version: Any) -> str:
    return str(api_version or "").rpartition("/")[0].removeprefix("core")
