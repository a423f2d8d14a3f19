"""Every field of Soperator, below `spec` of its objects or in the values of its charts, and what becomes of it."""

from operations.importing.amounts import memory, node, serving
from operations.importing.cluster import cluster_name
from operations.importing.field import Field, carried, if_so, left
from operations.importing.filters import filter_of, named_filter
from operations.importing.lines import (
    TOPOLOGY,
    extra,
    gres_conf,
    limits,
    mpi_conf,
    node_conf,
    purge_and_archive,
    slurm_conf,
)
from operations.importing.soperator import (
    NEW_ROOT,
    WORKER,
    address,
    cgroup,
    database_tls,
    ephemeral,
    health,
    jail,
    keys,
    node_port,
    on_worker,
    partitions,
    place,
    ranges,
    size,
    spool,
    submounts,
    zero_is_none,
)
from operations.importing.volumes import LOGIN, PER_POD

_WORKER, _LOGIN, _CONTROLLER = "slurmNodes.worker", "slurmNodes.login", "slurmNodes.controller"
_ACCOUNTING, _NODES = "slurmNodes.accounting", "nodesets.*"
_PURGE = "how long records are kept, and which go to files"
_IMAGES = "the images are Slipway's own: set images.registry and images.tag"
_PODS = "Slipway decides how its pods are made"
_PROFILE = "Slipway's pods have the rights that they need and no more; the policy pack checks it"
_BOOKKEEPING = "it tells Soperator's own parts what to do, and there are none here"
_MUNGE = "munged is a part of each pod, and has no settings of its own"
_TELEMETRY = "Prometheus reads Slurm's numbers from slurmctld; set monitoring"
_MARIADB = "the database that Slipway brings along has no setting for it"
_POD_KEYS = (
    *("customInitContainers", "hostUsers", "priorityClass", "priorityClassName", "nodeExporter", "rbac"),
    *("serviceAccount", "enableHostUserNamespace", "workerAnnotations", "configMapRefSupervisord", "configMapRefSshd"),
    *("sshdConfigMapRefName", "supervisordConfigMapRefName", "annotations", "labels"),
)
_CONTAINER_KEYS = (
    *("image", "imagePullPolicy", "imagePullSecrets", "command", "args", "port", "livenessProbe", "readinessProbe"),
    *("appArmorProfile", "customEnv"),
)

# What comes first counts. NodeSets stand under `nodesets.<name>`, as in their chart.
TABLE: tuple[Field, ...] = (
    Field("clusterName", "cluster.name", "in lower case; records belong to it", cluster_name),
    carried("namespace", "cluster.namespace", "`metadata.namespace` of the SlurmCluster"),
    Field("k8sNodeFilters.*", "nodeFilters.*", "the same rules, by name", named_filter),
    left("volumeSources", "each volume stands where it is used: `storage.submounts`, `submounts` of NodeSets"),
    # Workers
    carried(f"{_WORKER}.size", "worker.size"),
    Field(f"{_WORKER}.k8sNodeFilterName", "worker.nodeFilter", "", filter_of(WORKER)),
    Field(f"{_WORKER}.slurmd.resources", "worker.cpus, worker.memory, worker.gpus", "whole CPUs", on_worker(node)),
    Field(f"{_WORKER}.slurmd.securityLimitsConfig", "worker.limits", "hard limits of everyone", limits(WORKER)),
    Field(f"{_WORKER}.volumes.jail", "storage.jail, storage.submounts", NEW_ROOT, jail),
    Field(
        f"{_WORKER}.volumes.jailSubMounts",
        "storage.submounts, worker.submounts",
        "those that logins have too are everybody's",
        on_worker(submounts(WORKER)),
    ),
    carried(f"{_WORKER}.volumes.sharedMemorySize", "worker.sharedMemory", "", memory),
    left(f"{_WORKER}.volumes.spool", "slurmd keeps what it needs on the disk of its pod"),
    left(f"{_WORKER}.volumes.customMounts", "only the shared root is seen by jobs: say `submounts`, as paths in it"),
    Field(f"{_WORKER}.cgroupVersion", "slurm.cgroup", "`v2` as it is", cgroup),
    left(f"{_WORKER}.enableGDRCopy", "the device plugin of the Kubernetes nodes decides about it"),
    left(f"{_WORKER}.slurmNodeExtra", "its values are known only inside the old pods"),
    carried(f"{_WORKER}.maxUnavailable", "worker.maxUnavailable"),
    # NodeSets
    carried(f"{_NODES}.replicas", "nodeSets.*.size"),
    carried(f"{_NODES}.maxUnavailable", "nodeSets.*.maxUnavailable"),
    Field(f"{_NODES}.ephemeralNodes", "nodeSets.*.autoscale", "`true` as autoscale from 0 to `size`", ephemeral),
    left(f"{_NODES}.ephemeralTopologyWaitTimeout", "slurmd says where it is when it starts, and waits for nobody"),
    Field(f"{_NODES}.slurmd.resources", "nodeSets.*.cpus, .memory, .gpus", "whole CPUs", node),
    Field(
        f"{_NODES}.slurmd.security.limitsConfig", "nodeSets.*.limits", "hard limits of everyone", limits("nodeSets.*")
    ),
    Field(f"{_NODES}.slurmd.volumes.jail", "storage.jail, storage.submounts", NEW_ROOT, jail),
    Field(
        f"{_NODES}.slurmd.volumes.jailSubMounts",
        "storage.submounts, nodeSets.*.submounts",
        "those that logins have too are everybody's",
        submounts(WORKER),
    ),
    carried(f"{_NODES}.slurmd.volumes.sharedMemorySize", "nodeSets.*.sharedMemory", "", memory),
    left(f"{_NODES}.slurmd.volumes.spool", "slurmd keeps what it needs on the disk of its pod"),
    left(
        f"{_NODES}.slurmd.volumes.customVolumeMounts",
        "only the shared root is seen by jobs: say `submounts`, as paths in it",
    ),
    left(f"{_NODES}.slurmd.volumes.persistentVolumeClaimRetentionPolicy", PER_POD),
    Field(f"{_NODES}.nodeConfig.features", "nodeSets.*.features", "", lambda taking: taking.put(taking.value)),
    Field(
        f"{_NODES}.nodeConfig.static",
        "nodeSets.*",
        "fields of a NodeName line: the setting of each, or `extra`",
        node_conf,
    ),
    Field(f"{_NODES}.nodeConfig.gresConfig", "nodeSets.*.gpus.type, nodeSets.*.gres", "", gres_conf),
    left(f"{_NODES}.nodeConfig.dynamic", "its values are known only inside the old pods"),
    Field(
        f"{_NODES}.placement",
        "nodeFilters",
        "`nodeSelector`, `affinity` and `tolerations`: a filter by the name of the NodeSet",
        place,
    ),
    left(f"{_NODES}.gpu.enabled", "the GPUs of `slurmd.resources` say it"),
    left(f"{_NODES}.gpu.nvidia", "the device plugin of the Kubernetes nodes decides about it"),
    # Logins
    carried(f"{_LOGIN}.size", "login.size"),
    Field(f"{_LOGIN}.k8sNodeFilterName", "login.nodeFilter", "", filter_of("login")),
    Field(f"{_LOGIN}.sshd.resources", "login.cpus, login.memory", "", serving("login")),
    Field(f"{_LOGIN}.sshd.securityLimitsConfig", "login.limits", "hard limits of everyone", limits("login")),
    carried(f"{_LOGIN}.sshdServiceType", "login.service.type"),
    Field(f"{_LOGIN}.sshdServiceNodePort", "login.service.nodePort", "with NodePort", node_port),
    carried(f"{_LOGIN}.sshdServiceAnnotations", "login.service.annotations"),
    Field(f"{_LOGIN}.sshdServiceLoadBalancerSourceRanges", "login.service.sourceRanges", "with LoadBalancer", ranges),
    Field(f"{_LOGIN}.sshdServiceLoadBalancerIP", "login.service.address", "the address that users are told", address),
    Field(
        f"{_LOGIN}.sshRootPublicKeys",
        "",
        "a comment in the stack file: root does not log in; give each person an entry of `users`",
        keys,
    ),
    Field(f"{_LOGIN}.volumes.jail", "storage.jail, storage.submounts", NEW_ROOT, jail),
    Field(
        f"{_LOGIN}.volumes.jailSubMounts", "storage.submounts", "what logins have, workers have too", submounts(LOGIN)
    ),
    left(
        f"{_LOGIN}.volumes.customMounts",
        "only the shared root is seen by users: say `storage.submounts`, as paths in it",
    ),
    left(f"{_LOGIN}.userIsolation", "login.limits holds for each process, and login.memory for all of a pod"),
    left(f"{_LOGIN}.docker", "there is no Docker on the login pods"),
    # Controller
    Field(f"{_CONTROLLER}.size", "", "one slurmctld; controller.standby or .backup for a second", size),
    Field(f"{_CONTROLLER}.k8sNodeFilterName", "controller.nodeFilter", "", filter_of("controller")),
    Field(f"{_CONTROLLER}.slurmctld.resources", "controller.cpus, controller.memory", "", serving("controller")),
    Field(
        f"{_CONTROLLER}.volumes.spool",
        "controller.state",
        "a new claim like its template; the queue begins empty",
        spool,
    ),
    Field(f"{_CONTROLLER}.volumes.jail", "storage.jail, storage.submounts", NEW_ROOT, jail),
    left(f"{_CONTROLLER}.volumes.customMounts", _PODS),
    carried(f"{_CONTROLLER}.openMetrics.enabled", "monitoring.enabled", "if it is on", if_so),
    carried(f"{_CONTROLLER}.openMetrics.serviceMonitor.interval", "monitoring.interval"),
    left(f"{_CONTROLLER}.openMetrics.serviceMonitor", _TELEMETRY),
    # Accounting
    carried(f"{_ACCOUNTING}.enabled", "accounting.enabled"),
    left(f"{_ACCOUNTING}.size", "there is one slurmdbd"),
    Field(f"{_ACCOUNTING}.k8sNodeFilterName", "accounting.nodeFilter", "", filter_of("accounting")),
    Field(f"{_ACCOUNTING}.slurmdbd.resources", "accounting.cpus, accounting.memory", "", serving("accounting")),
    left(f"{_ACCOUNTING}.externalDB.enabled", "accounting.database is there, or not"),
    carried(f"{_ACCOUNTING}.externalDB.host", "accounting.database.host"),
    carried(f"{_ACCOUNTING}.externalDB.port", "accounting.database.port"),
    carried(f"{_ACCOUNTING}.externalDB.user", "accounting.database.user"),
    carried(
        f"{_ACCOUNTING}.externalDB.passwordSecretKeyRef.name",
        "accounting.database.passwordSecret.name",
        "the Secret stays where it is",
    ),
    carried(f"{_ACCOUNTING}.externalDB.passwordSecretKeyRef.key", "accounting.database.passwordSecret.key"),
    Field(
        f"{_ACCOUNTING}.externalDB.tls",
        "accounting.database.tls, .caSecret.name",
        "the CA under the key `ca.crt`",
        database_tls,
    ),
    left(
        f"{_ACCOUNTING}.externalDB.storageParameters", "slurmdbd's way to the database has no other settings than `tls`"
    ),
    left(f"{_ACCOUNTING}.mariadbOperator.enabled", "without accounting.database there is a database of its own"),
    Field(
        f"{_ACCOUNTING}.mariadbOperator.resources",
        "accounting.mariadb.cpus, .memory",
        "",
        serving("accounting.mariadb"),
    ),
    carried(
        f"{_ACCOUNTING}.mariadbOperator.storage.size",
        "accounting.mariadb.storage.size",
        "a new database: load a backup of the old one into it",
        memory,
    ),
    carried(f"{_ACCOUNTING}.mariadbOperator.storage.storageClassName", "accounting.mariadb.storage.storageClass"),
    left(f"{_ACCOUNTING}.mariadbOperator", _MARIADB),
    Field(f"{_ACCOUNTING}.slurmdbdConfig", "accounting.purge, accounting.archive.records", _PURGE, purge_and_archive),
    *(
        Field(f"{_ACCOUNTING}.slurmConfig.{key[0].lower()}{key[1:]}", f"slurm.extra.{key}", "", extra(key))
        for key in (
            "AccountingStoreFlags",
            "AcctGatherInterconnectType",
            "AcctGatherFilesystemType",
            "AcctGatherProfileType",
            "JobAcctGatherType",
            "JobAcctGatherFrequency",
            "JobAcctGatherParams",
            "PriorityWeightAge",
            "PriorityWeightFairshare",
            "PriorityWeightQOS",
            "PriorityWeightTRES",
        )
    ),
    left(f"{_ACCOUNTING}.slurmConfig.accountingStorageTRES", "Slipway counts every resource that a NodeSet has"),
    # REST and exporter
    carried("slurmNodes.rest.enabled", "rest.enabled"),
    carried("slurmNodes.rest.size", "rest.size"),
    Field("slurmNodes.rest.k8sNodeFilterName", "rest.nodeFilter", "", filter_of("rest")),
    Field("slurmNodes.rest.rest.resources", "rest.cpus, rest.memory", "", serving("rest")),
    left("slurmNodes.rest.threadCount", "Slipway decides how slurmrestd is started"),
    left("slurmNodes.rest.maxConnections", "Slipway decides how slurmrestd is started"),
    carried("slurmNodes.exporter.enabled", "monitoring.enabled", "if it is on", if_so),
    carried("slurmNodes.exporter.podMonitorConfig.interval", "monitoring.interval"),
    left("slurmNodes.exporter", _TELEMETRY),
    # Slurm
    Field("customSlurmConfig", "slurm.extra", "any key that no setting stands for", slurm_conf),
    Field("slurmConfig.defMemPerNode", "slurm.extra.DefMemPerNode", "unless 0", zero_is_none("DefMemPerNode")),
    *(
        Field(f"slurmConfig.{key[0].lower()}{key[1:]}", f"slurm.extra.{key}", "", extra(key))
        for key in (
            "DefCpuPerGPU",
            "CompleteWait",
            "DebugFlags",
            "TaskPluginParam",
            "MaxJobCount",
            "MinJobAge",
            "MessageTimeout",
        )
    ),
    *(
        left(f"slurmConfig.{key}", "it names a script of the old images; put yours in health.prolog and health.epilog")
        for key in ("prolog", "epilog", "taskProlog", "taskEpilog")
    ),
    left("slurmConfig.topologyPlugin", TOPOLOGY),
    left("slurmConfig.topologyParam", TOPOLOGY),
    left("slurmTopologyConfigMapRefName", TOPOLOGY),
    left("topology", TOPOLOGY),
    Field(
        "partitionConfiguration", "partitions", "lines of slurm.conf, key by key; nodes are whole NodeSets", partitions
    ),
    Field("mpiConfig.pmixEnv", "slurm.mpi.pmix.PMIxEnv", "", lambda taking: taking.put(taking.value)),
    Field("mpiConfig", "slurm.mpi.pmix", "", mpi_conf),
    left("customCgroupConfig", "Slipway writes cgroup.conf: set slurm.cgroup"),
    left("plugStackConfig", "Slipway's images bring no SPANK plugins such as pyxis, and plugstack.conf is its own"),
    left("workerFeatures", "all nodes of a NodeSet have the same features: make a NodeSet for each kind of node"),
    Field("healthCheckConfig", "health.enabled, health.interval", "the program itself goes to health.checks", health),
    left("slurmScripts", "scripts of Soperator's own; put yours in health.checks, health.prolog and health.epilog"),
    # The rest
    left("populateJail.jailSnapshotVolume", "the shared root is filled from the image of `images.jail`"),
    left("populateJail", "Slipway fills the shared root by a job of its own"),
    left("secrets", "secrets are not carried over: keys are made anew (users' ssh warns of a new host key)"),
    left("maintenance", "what holds for the moment only; set sizes to 0 for the same"),
    left("pause", "what holds for the moment only; set sizes to 0 for the same"),
    left("crVersion", _BOOKKEEPING),
    left("clusterType", "NodeSets with `gpus` have GPUs, and others have none"),
    left("cudaVersion", _IMAGES),
    left("images", _IMAGES),
    left("imagePullPolicy", _IMAGES),
    left("imagePullSecrets", "set them at the service account of the namespace, or at the nodes"),
    left("annotations", _PODS),
    left("nameOverride", _BOOKKEEPING),
    left("fullnameOverride", _BOOKKEEPING),
    left("priorityClasses", "Slipway's pods have no priority class"),
    left("useDefaultAppArmorProfile", _PROFILE),
    left("nodeExporter", _TELEMETRY),
    left("telemetry", _TELEMETRY),
    left("sConfigController", _BOOKKEEPING),
    left("ncclSettings", "jobs choose NCCL's settings by their environment"),
    left("periodicChecks", "run a benchmark as a job; nodes are checked by `health`"),
    left("slurmNodes.sssd", "users and groups come from the stack file: set `users` and `groups`"),
    left(f"{_NODES}.sssd", "users and groups come from the stack file: set `users` and `groups`"),
    *(left(f"slurmNodes.*.{key}", _PODS) for key in _POD_KEYS),
    *(left(f"nodesets.*.{key}", _PODS) for key in _POD_KEYS),
    left("slurmNodes.*.munge", _MUNGE),
    left("nodesets.*.munge", _MUNGE),
    *(left(f"slurmNodes.*.*.{key}", _IMAGES if key.startswith("image") else _PODS) for key in _CONTAINER_KEYS),
    *(left(f"nodesets.*.slurmd.{key}", _IMAGES if key.startswith("image") else _PODS) for key in _CONTAINER_KEYS),
    left(f"{_NODES}.slurmd.security.appArmorProfile", _PROFILE),
)
