"""Values of slurm-operator's chart before 1.0: where 1.x has the same, and what it has no longer."""

from typing import Any

from operations.importing.amounts import memory, serving
from operations.importing.field import Field, Path, Tree, carried, found, left
from operations.importing.source import by_name

_RULES = ("nodeSelector", "affinity", "tolerations")
_DAEMONS = {"controller": "slurmctld", "accounting": "slurmdbd", "restapi": "slurmrestd"}
_NODES, _LOGIN = "compute.nodesets.*", "loginsets.login"

# Each old path, and where its value is in the chart of 1.x.
MOVES: tuple[tuple[str, str], ...] = (
    *((f"{part}.{key}", f"{part}.podSpec.{key}") for part in _DAEMONS for key in _RULES),
    *((f"{part}.resources", f"{part}.{daemon}.resources") for part, daemon in _DAEMONS.items()),
    *(
        (f"{part}.{key}", f"{part}.{daemon}.{key}")
        for part, daemon in _DAEMONS.items()
        for key in ("image", "imagePullPolicy")
    ),
    ("restapi.service", "restapi.service.spec"),
    ("restapi.servicePort", "restapi.service.port"),
    ("restapi.serviceNodePort", "restapi.service.nodePort"),
    ("accounting.external.enabled", "accounting.external"),
    ("accounting.external.host", "accounting.externalConfig.host"),
    ("accounting.external.port", "accounting.externalConfig.port"),
    ("mariadb", "accounting.mariadb"),
    *((f"{_NODES}.{key}", f"nodesets.*.{key}") for key in ("enabled", "replicas", "nodeGres", "useResourceLimits")),
    *((f"{_NODES}.{key}", f"nodesets.*.{key}") for key in ("updateStrategy", "volumeClaimTemplates")),
    (f"{_NODES}.persistentVolumeClaimRetentionPolicy", "nodesets.*.persistentVolumeClaimRetentionPolicy"),
    *((f"{_NODES}.{key}", f"nodesets.*.podSpec.{key}") for key in _RULES),
    *((f"{_NODES}.{key}", f"nodesets.*.slurmd.{key}") for key in ("resources", "image", "imagePullPolicy")),
    (f"{_NODES}.extraVolumes", "nodesets.*.podSpec.volumes"),
    (f"{_NODES}.extraVolumeMounts", "nodesets.*.slurmd.volumeMounts"),
    (f"{_NODES}.nodeFeatures", "nodesets.*.extraConfMap.Features"),
    (f"{_NODES}.nodeWeight", "nodesets.*.extraConfMap.Weight"),
    (f"{_NODES}.partition.enabled", "nodesets.*.partition.enabled"),
    (f"{_NODES}.partition.config", "nodesets.*.partition.configMap"),
    ("compute.partitions.*.enabled", "partitions.*.enabled"),
    ("compute.partitions.*.nodesets", "partitions.*.nodesets"),
    ("compute.partitions.*.config", "partitions.*.configMap"),
    *((f"login.{key}", f"{_LOGIN}.{key}") for key in ("enabled", "replicas", "rootSshAuthorizedKeys", "sshdConfig")),
    ("login.sssdConf", f"{_LOGIN}.sssdConf"),
    *((f"login.{key}", f"{_LOGIN}.podSpec.{key}") for key in _RULES),
    *((f"login.{key}", f"{_LOGIN}.login.{key}") for key in ("resources", "image", "imagePullPolicy")),
    ("login.extraVolumes", f"{_LOGIN}.podSpec.volumes"),
    ("login.extraVolumeMounts", f"{_LOGIN}.login.volumeMounts"),
    ("login.service", f"{_LOGIN}.service.spec"),
    ("login.servicePort", f"{_LOGIN}.service.port"),
    ("login.serviceNodePort", f"{_LOGIN}.service.nodePort"),
    ("slurm.extraSlurmConf", "controller.extraConf"),
    ("slurm.extraSlurmdbdConf", "accounting.extraConf"),
    *((f"slurm.{key}", key) for key in ("configFiles", "prologScripts", "epilogScripts")),
)

_PRIORITY = "Slipway's pods have no priority class"
_NODE_PORT = "it counts with `service.type: NodePort` alone"

TABLE: tuple[Field, ...] = (
    carried(
        "accounting.mariadb.primary.persistence.size",
        "accounting.mariadb.storage.size",
        "a new database: load a backup of the old one into it",
        memory,
    ),
    carried("accounting.mariadb.primary.persistence.storageClass", "accounting.mariadb.storage.storageClass"),
    Field("accounting.mariadb.resources", "accounting.mariadb.cpus, .memory", "", serving("accounting.mariadb")),
    left("accounting.mariadb.auth", "secrets are not carried over: Slipway makes the password of its database"),
    left("accounting.mariadb", "the database that Slipway brings along has no setting for it"),
    left("authcred", "there is no such container in Slipway's pods"),
    left("jwt", "secrets are not carried over: Slipway makes its own keys"),
    left("slurm.auth", "secrets are not carried over: Slipway makes its own keys"),
    left("compute.image", "the images are Slipway's own: set images.registry and images.tag"),
    left("compute.imagePullPolicy", "the images are Slipway's own: set images.registry and images.tag"),
    *(left(f"{part}.priorityClassName", _PRIORITY) for part in (*_DAEMONS, _NODES, "login")),
    *(left(f"{part}.serviceNodePort", _NODE_PORT) for part in ("controller", "restapi", "login")),
    left("controller.servicePort", "only the cluster itself talks to slurmctld"),
    left("accounting.replicas", "there is one slurmdbd"),
    left("controller.replicas", "one slurmctld runs at a time; see controller.standby and controller.backup"),
    left("controller.enabled", "there is always a slurmctld"),
)


def moved(values: dict[str, Any]) -> Tree:
    """The values in the shape of 1.x. What has no place there stays where it is."""
    compute = values.get("compute")
    if isinstance(compute, dict):
        named = {key: by_name(compute[key]) for key in ("nodesets", "partitions") if compute.get(key)}
        values = values | {"compute": compute | named}
    made = Tree({})
    taken: list[Path] = []
    for old, new in MOVES:
        for path, names, value in found(tuple(old.split(".")), values):
            if path[-1] == "serviceNodePort" and _type(values, path[0]) != "NodePort":
                continue
            left_over = list(names)
            target = tuple(left_over.pop(0) if step == "*" else step for step in new.split("."))
            _set(made.values, target, value)
            made.origins[target] = ".".join(path)
            if len(target) > 2:
                made.origins.setdefault(target[:-1], ".".join(path[:-1]))
            taken.append(path)
    _stay(made, values, (), taken)
    return made


def _type(values: dict[str, Any], part: str) -> Any:
    service = values[part].get("service")
    return service.get("type") if isinstance(service, dict) else None


def _set(values: dict[str, Any], path: Path, value: Any) -> None:
    for step in path[:-1]:
        if not isinstance(values.get(step), dict):
            values[step] = {}
        values = values[step]
    values[path[-1]] = value


def _stay(made: Tree, value: Any, path: Path, taken: list[Path]) -> None:
    if path in taken:
        return
    if isinstance(value, dict) and any(other[: len(path)] == path for other in taken):
        for name, member in value.items():
            _stay(made, member, (*path, name), taken)
    elif path:
        _set(made.values, path, value)
