"""Every field of slurm-operator, below `spec` of its objects or in the values of its chart, and what becomes of it."""

from operations.importing.amounts import node, serving
from operations.importing.cluster import cluster_name
from operations.importing.field import Field, carried, if_so, left
from operations.importing.lines import gres, node_conf, purge_and_archive, scripts, slurm_conf
from operations.importing.slurm_operator import (
    config_files,
    external,
    mounts,
    node_port,
    partitions,
    persistence,
    place,
    root_keys,
    scaling,
    service,
)

_IMAGES = "the images are Slipway's own: set images.registry and images.tag"
_PODS = "Slipway decides how its pods are made"
_KEYS = "secrets are not carried over: Slipway makes its own keys"
_USERS = "users and groups come from the stack file: set `users` and `groups`"
_SIDECAR = "there is no such container in Slipway's pods"
_FILTER = "`nodeSelector`, `affinity` and `tolerations` of podSpec: a node filter; equal ones are one"
_REFS = "what is in a ConfigMap is not read: say it in slurm.extra, health.prolog or health.epilog"
_CHART = "it tells the chart or the operator what to do, and there are none here"
_SCRAPE = "Prometheus is told by a PodMonitor: set monitoring.podMonitor"
_CONTAINERS = ("args", "env", "securityContext", "image", "imagePullPolicy")


def _container(path: str) -> list[Field]:
    """What a container may say that is Slipway's to decide."""
    return [left(f"{path}.{key}", _IMAGES if key.startswith("image") else _PODS) for key in _CONTAINERS]


def _pod(path: str) -> list[Field]:
    return [
        left(f"{path}.podSpec.volumes", "each volume stands where it is mounted: `submounts`"),
        left(f"{path}.podSpec", _PODS),
        left(f"{path}.metadata", _PODS),
        left(f"{path}.controllerRef", _CHART),
        left(f"{path}.logfile", _SIDECAR),
        left(f"{path}.initconf", _SIDECAR),
    ]


def _service(path: str, section: str, port: int) -> list[Field]:
    return [
        Field(f"{path}.service.spec", f"{section}.service", "type, source ranges, address", service(section)),
        carried(f"{path}.service.metadata.annotations", f"{section}.service.annotations"),
        left(f"{path}.service.metadata", _PODS),
        carried(f"{path}.service.port", f"{section}.service.port", f"{port} if left out"),
        Field(f"{path}.service.nodePort", f"{section}.service.nodePort", "unless ClusterIP", node_port(section, path)),
    ]


_NODES, _LOGINS = "nodesets.*", "loginsets.*"

TABLE: tuple[Field, ...] = (
    Field("clusterName", "cluster.name", "in lower case; records belong to it", cluster_name),
    carried("namespace", "cluster.namespace", "`metadata.namespace` of the Controller"),
    carried("namespaceOverride", "cluster.namespace"),
    # Controller
    Field("controller.slurmctld.resources", "controller.cpus, controller.memory", "", serving("controller")),
    Field("controller.podSpec.resources", "controller.cpus, controller.memory", "", serving("controller")),
    Field("controller.placement", "controller.nodeFilter, nodeFilters", _FILTER, place),
    Field(
        "controller.persistence",
        "controller.state",
        "a new claim like the old one; the queue begins empty",
        persistence,
    ),
    Field("controller.external", "", "Slipway brings its own slurmctld", external("slurmctld")),
    left("controller.externalConfig", "Slipway brings its own slurmctld"),
    left("controller.inplaceReconfigure", "a change that a reconfigure suffices for is always one"),
    left("controller.reconfigure", _SIDECAR),
    left("controller.highAvailability", "set controller.standby, or controller.backup for a second slurmctld"),
    left("controller.service", "only the cluster itself talks to slurmctld"),
    carried("controller.metrics.enabled", "monitoring.enabled", "if it is on", if_so),
    carried("controller.metrics.serviceMonitor.interval", "monitoring.interval"),
    left("controller.metrics.serviceMonitor", _SCRAPE),
    *(left(f"controller.{key}", _KEYS) for key in ("slurmKeyRef", "jwtKeyRef", "jwtHs256KeyRef", "jwksKeyRef")),
    *(
        left(f"controller.{key}", _REFS)
        for key in (
            *("configFileRefs", "prologScriptRefs", "epilogScriptRefs"),
            *("prologSlurmctldScriptRefs", "epilogSlurmctldScriptRefs"),
        )
    ),
    left("controller.accountingRef", _CHART),
    *_container("controller.slurmctld"),
    *_pod("controller"),
    # NodeSets
    left(f"{_NODES}.enabled", "NodeSets that are not enabled are left out"),
    carried(f"{_NODES}.replicas", "nodeSets.*.size"),
    Field(f"{_NODES}.scalingMode", "nodeSets.*.size", "with DaemonSet: state how many nodes there are", scaling),
    Field(f"{_NODES}.slurmd.resources", "nodeSets.*.cpus, .memory, .gpus", "limits; whole CPUs", node),
    Field(f"{_NODES}.podSpec.resources", "nodeSets.*.cpus, .memory, .gpus", "limits; whole CPUs", node),
    Field(
        f"{_NODES}.slurmd.volumeMounts",
        "storage.submounts, nodeSets.*.submounts",
        "as paths in the shared root; those that logins have too are everybody's",
        mounts,
    ),
    Field(f"{_NODES}.placement", "nodeSets.*.nodeFilter, nodeFilters", _FILTER, place),
    carried(
        f"{_NODES}.podSpec.terminationGracePeriodSeconds",
        "nodeSets.*.gracePeriod",
        "in seconds",
        lambda value: f"{value}s",
    ),
    Field(f"{_NODES}.extraConf", "nodeSets.*", "fields of a NodeName line: the setting of each, or `extra`", node_conf),
    Field(f"{_NODES}.extraConfMap", "nodeSets.*", "likewise", node_conf),
    Field(f"{_NODES}.nodeGres", "nodeSets.*.gpus, .gres", "gpu:h100:8", lambda taking: gres(taking, taking.value)),
    carried(f"{_NODES}.updateStrategy.rollingUpdate.maxUnavailable", "nodeSets.*.maxUnavailable"),
    left(f"{_NODES}.updateStrategy.type", "changed workers are drained and replaced by `slipway up`"),
    left(f"{_NODES}.updateStrategy.rollingUpdate", "changed workers are drained and replaced by `slipway up`"),
    left(f"{_NODES}.useResourceLimits", "what a pod has is what Slurm hands out, always"),
    left(f"{_NODES}.workloadDisruptionProtection", "nodes with jobs are always protected from evictions"),
    left(f"{_NODES}.taintKubeNodes", "taint the nodes yourself; `exclusive` keeps other NodeSets away"),
    left(f"{_NODES}.pinToNode", "a pod may start on any node of its filter"),
    left(f"{_NODES}.pruneSlurmNodeRecords", "static nodes stand in slurm.conf, and go when `size` says so"),
    left(f"{_NODES}.ordinalPadding", "nodes are <NodeSet>-0, <NodeSet>-1 and so on"),
    left(f"{_NODES}.ssh", "users who have a job on a node may always log in to it"),
    left(f"{_NODES}.volumeClaimTemplates", "a claim for each pod has no counterpart; see `submounts` of a NodeSet"),
    left(f"{_NODES}.persistentVolumeClaimRetentionPolicy", "there are no claims for each pod"),
    left(f"{_NODES}.minReadySeconds", _PODS),
    left(f"{_NODES}.revisionHistoryLimit", _PODS),
    *_container(f"{_NODES}.slurmd"),
    *_pod(_NODES),
    # Partitions
    Field("partitions.*", "partitions.*", "key by key; `all` becomes `main`; other keys in `extra`", partitions),
    Field(f"{_NODES}.partition", "partitions.*", "a partition by the name of the NodeSet", partitions),
    # Logins
    left(f"{_LOGINS}.enabled", "sets that are not enabled are left out, and all after the first"),
    carried(f"{_LOGINS}.replicas", "login.size"),
    Field(f"{_LOGINS}.login.resources", "login.cpus, login.memory", "", serving("login")),
    Field(f"{_LOGINS}.podSpec.resources", "login.cpus, login.memory", "", serving("login")),
    Field(
        f"{_LOGINS}.login.volumeMounts",
        "storage.submounts",
        "as paths in the shared root: workers see them too",
        mounts,
    ),
    Field(f"{_LOGINS}.placement", "login.nodeFilter, nodeFilters", _FILTER, place),
    *_service(_LOGINS, "login", 22),
    Field(
        f"{_LOGINS}.rootSshAuthorizedKeys",
        "",
        "a comment in the stack file: root does not log in; give each person an entry of `users`",
        root_keys,
    ),
    left(f"{_LOGINS}.extraSshdConfig", "Slipway's sshd has its own configuration"),
    left(f"{_LOGINS}.sshdConfig", "Slipway's sshd has its own configuration"),
    left(f"{_LOGINS}.sssdConfRef", _USERS),
    left(f"{_LOGINS}.sssdConf", _USERS),
    left(f"{_LOGINS}.strategy", "login pods are replaced one after the other"),
    *_container(f"{_LOGINS}.login"),
    *_pod(_LOGINS),
    left("sssd", _USERS),
    # REST
    Field(
        "restapi.replicas",
        "rest.size, rest.enabled",
        "",
        lambda taking: (taking.put(taking.value, "rest.size"), taking.put(True, "rest.enabled"))[0],
    ),
    carried("restapi.enabled", "rest.enabled"),
    Field("restapi.slurmrestd.resources", "rest.cpus, rest.memory", "", serving("rest")),
    Field("restapi.podSpec.resources", "rest.cpus, rest.memory", "", serving("rest")),
    Field("restapi.placement", "rest.nodeFilter, nodeFilters", _FILTER, place),
    *_service("restapi", "rest", 6820),
    *_container("restapi.slurmrestd"),
    *_pod("restapi"),
    # Accounting
    carried("accounting.enabled", "accounting.enabled"),
    Field("accounting.slurmdbd.resources", "accounting.cpus, accounting.memory", "", serving("accounting")),
    Field("accounting.podSpec.resources", "accounting.cpus, accounting.memory", "", serving("accounting")),
    Field("accounting.placement", "accounting.nodeFilter, nodeFilters", _FILTER, place),
    carried("accounting.storageConfig.host", "accounting.database.host"),
    carried("accounting.storageConfig.port", "accounting.database.port"),
    carried("accounting.storageConfig.database", "accounting.database.name"),
    carried("accounting.storageConfig.username", "accounting.database.user"),
    carried(
        "accounting.storageConfig.passwordKeyRef.name",
        "accounting.database.passwordSecret.name",
        "the Secret stays where it is",
    ),
    carried("accounting.storageConfig.passwordKeyRef.key", "accounting.database.passwordSecret.key"),
    Field(
        "accounting.extraConf",
        "accounting.purge, accounting.archive.records",
        "how long records are kept, and which go to files",
        purge_and_archive,
    ),
    Field("accounting.extraConfMap", "accounting.purge, accounting.archive.records", "likewise", purge_and_archive),
    Field("accounting.external", "", "Slipway brings its own slurmdbd", external("slurmdbd")),
    left("accounting.externalConfig", "Slipway brings its own slurmdbd"),
    left("accounting.service", "only the cluster itself talks to slurmdbd"),
    *(left(f"accounting.{key}", _KEYS) for key in ("slurmKeyRef", "jwtKeyRef", "jwtHs256KeyRef", "jwksKeyRef")),
    *_container("accounting.slurmdbd"),
    *_pod("accounting"),
    # Slurm
    Field("controller.extraConf", "slurm.extra, partitions", "any key that no setting stands for", slurm_conf),
    Field("controller.extraConfMap", "slurm.extra", "likewise", slurm_conf),
    Field(
        "configFiles",
        "slurm.jobSubmitLua, .cliFilterLua, .mpi.pmix, .privateTmp",
        "by file: others are Slipway's to write",
        config_files,
    ),
    Field("prologScripts", "health.prolog", "with health.enabled", scripts("prolog")),
    Field("epilogScripts", "health.epilog", "with health.enabled", scripts("epilog")),
    left("prologSlurmctldScripts", "slurmctld runs no scripts of yours, but slurm.jobSubmitLua"),
    left("epilogSlurmctldScripts", "slurmctld runs no scripts of yours, but slurm.jobSubmitLua"),
    carried("slurm-exporter.enabled", "monitoring.enabled", "if it is on", if_so),
    left("slurm-exporter", "slurmctld itself serves its numbers: set monitoring"),
    # The rest
    *(left(key, _KEYS) for key in ("slurmKeyRef", "slurmKey", "jwtHs256KeyRef", "jwtKey", "jwksKeys")),
    left("imagePullPolicy", _IMAGES),
    left("imagePullSecrets", "set them at the service account of the namespace, or at the nodes"),
    left("priorityClass", "Slipway's pods have no priority class"),
    left("priorityClassName", "Slipway's pods have no priority class"),
    left("vendor", "it is about one cloud or one exporter; nothing of it is known here"),
    left("extraObjects", "make other objects by other means"),
    *(left(key, _CHART) for key in ("nameOverride", "fullnameOverride", "asciiArt", "debug", "networkPolicy")),
)
