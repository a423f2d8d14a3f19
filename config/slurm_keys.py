"""Every key of slurm.conf in Slurm 26.05, and which of them follow from other settings.

Slurm refuses a file with a key that it does not know, and every client that reads the file with it; so `extra` takes
only keys that exist. Keys are the same in any case: they are kept in the spelling of the manual.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError

from config.messages import did_you_mean

_CLUSTER = """
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
    AccountingStorageParameters AccountingStoragePass AccountingStoragePort AccountingStorageTRES
    AccountingStorageType AccountingStoreFlags AcctGatherEnergyType AcctGatherFilesystemType
    AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters
    AuthAltTypes AuthInfo AuthType BatchStartTimeout BcastExclude BcastParameters BurstBufferType CertgenParameters
    CertgenType CertmgrParameters CertmgrType CliFilterParameters CliFilterPlugins ClusterName
    CommunicationParameters CompleteWait CpuFreqDef CpuFreqGovernors CredType DataParserParameters DebugFlags
    DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DependencyParameters DisableRootJobs EioTimeout
    EnforcePartLimits Epilog EpilogMsgTime EpilogSlurmctld EpilogTimeout FairShareDampeningFactor
    FederationParameters FirstJobId GpuFreqDef GresTypes GroupUpdateForce GroupUpdateTime HashPlugin
    HealthCheckInterval HealthCheckNodeState HealthCheckProgram HealthCheckTimeout HttpParserType InactiveLimit
    InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc
    JobCompParams JobCompPass JobCompPassScript JobCompPort JobCompType JobCompUser JobFileAppend JobRequeue
    JobSubmitPlugins KillOnBadExit KillWait LaunchParameters LicenseParameters Licenses LogTimeFormat MailDomain
    MailProg MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount
    MaxStepCount MaxTasksPerNode MCSParameters MCSPlugin MessageTimeout MetricsAuthUsers MetricsParameters
    MetricsType MinJobAge MpiDefault MpiParams NamespaceType NodeFeaturesPlugins OverTimeLimit PluginDir
    PlugStackConfig PreemptExemptTime PreemptMode PreemptParameters PreemptType PrEpParameters PrEpPlugins
    PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityParameters
    PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightAge
    PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS
    PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld
    PrologTimeout PropagatePrioProcess PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram
    ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout ResvEpilog
    ResvOverRun ResvProlog ReturnToService SchedulerParameters SchedulerTimeSlice SchedulerType ScronParameters
    SelectType SelectTypeParameters SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldHttpAuthParameters
    SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPort SlurmctldPrimaryOffProg
    SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdHttpAuthParameters SlurmdLogFile
    SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout SlurmdUser
    SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation
    SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate SuspendTime SuspendTimeout
    SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TCPTimeout TLSParameters TLSType
    TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout
    UrlParserType UsePAM VSizeFactor WaitTime X11Parameters
"""

_NODE = """
    BcastAddr Boards CoreSpecCount CoresPerSocket CpuBind CPUs CpuSpecList Features Gres MemSpecLimit NodeAddr
    NodeHostname NodeName Parameters Port Procs RealMemory Reason RestrictedCoresPerGPU Sockets SocketsPerBoard
    State SuspendTime ThreadsPerCore TmpDisk Topology Weight
"""

_PARTITION = """
    AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind Default DefaultTime DefCpuPerGPU DefMemPerCPU
    DefMemPerGPU DefMemPerNode DenyAccounts DenyQos DisableRootJobs Exclusive GraceTime Hidden LLN MaxCPUsPerNode
    MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe OverTimeLimit
    PartitionName PowerDownOnIdle PreemptMode PriorityJobFactor PriorityTier QOS ReqResv ResumeTimeout RootOnly
    SelectTypeParameters State SuspendTime SuspendTimeout Topology TRESBillingWeights
"""

_MPI = """
    PMIxCliTmpDirBase PMIxCollFence PMIxDebug PMIxDirectConn PMIxDirectConnEarly PMIxDirectConnUCX PMIxDirectSameArch
    PMIxEnv PMIxFenceBarrier PMIxNetDevicesUCX PMIxShareServerTopology PMIxTimeout PMIxTlsUCX
"""

_NOT_YOURS = "Slipway decides it, because pods and Services depend on it"

# Keys of slurm.conf that are rendered from elsewhere, and where.
_OWNED_CLUSTER = {
    "AccountingStorageBackupHost": "accounting has one slurmdbd, which Kubernetes restarts",
    "AccountingStorageEnforce": "set accounting.enforce",
    "AccountingStorageHost": "set accounting.enabled",
    "AccountingStoragePass": "set accounting.enabled",
    "AccountingStoragePort": "set accounting.enabled",
    "AccountingStorageType": "set accounting.enabled",
    "AuthAltParameters": "set rest.enabled",
    "AuthAltTypes": "set rest.enabled",
    "AuthInfo": "set cluster.auth",
    "AuthType": "set cluster.auth",
    "ClusterName": "set cluster.name",
    "CredType": "set cluster.auth",
    "GresTypes": "set gpus or gres of a NodeSet",
    "MaxNodeCount": "set maxSize of the dynamic NodeSets",
    "MetricsType": "set monitoring.enabled",
    "MpiDefault": "set slurm.mpi.default",
    "NamespaceType": "set slurm.privateTmp",
    "PluginDir": _NOT_YOURS,
    "PlugStackConfig": _NOT_YOURS,
    "ProctrackType": "set slurm.cgroup",
    "SlurmctldAddr": _NOT_YOURS,
    "SlurmctldHost": _NOT_YOURS,
    "SlurmctldLogFile": "logs go to the output of the containers",
    "SlurmctldPidFile": _NOT_YOURS,
    "SlurmctldPort": _NOT_YOURS,
    "SlurmdLogFile": "logs go to the output of the containers",
    "SlurmdPidFile": _NOT_YOURS,
    "SlurmdPort": _NOT_YOURS,
    "SlurmdSpoolDir": _NOT_YOURS,
    "SlurmdUser": _NOT_YOURS,
    "SlurmUser": _NOT_YOURS,
    "StateSaveLocation": "set controller.state for where its volume is",
    "TaskPlugin": "set slurm.cgroup",
    "TopologyPlugin": "set slurm.topology.plugin",
    # Not parameters, but lines of their own.
    "DownNodes": "use `scontrol update` to take a node out of service",
    "Include": "put the keys themselves here",
    "NodeName": "set worker or nodeSets",
    "NodeSet": "set nodeSets",
    "PartitionName": "set partitions",
}
_OWNED_NODE = {
    "CoresPerSocket": "set coresPerSocket of the NodeSet",
    "CPUs": "set cpus of the NodeSet",
    "Feature": "set features of the NodeSet",
    "Features": "set features of the NodeSet",
    "Gres": "set gpus or gres of the NodeSet",
    "NodeAddr": _NOT_YOURS,
    "NodeHostname": _NOT_YOURS,
    "NodeName": "it follows from the name of the NodeSet",
    "Port": _NOT_YOURS,
    "Procs": "set cpus of the NodeSet",
    "RealMemory": "set realMemory of the NodeSet",
    "Sockets": "set sockets of the NodeSet",
    "State": "use `scontrol update` to take a node out of service",
    "ThreadsPerCore": "set threadsPerCore of the NodeSet",
    "Topology": "set topology of the NodeSet",
    "Weight": "set weight of the NodeSet",
}
_OWNED_PARTITION = {
    "AllowAccounts": "set allowAccounts of the partition",
    "AllowGroups": "set allowGroups of the partition",
    "AllowQos": "set allowQos of the partition",
    "Default": "set default of the partition",
    "DefaultTime": "set defaultTime of the partition",
    "DefCpuPerGPU": "set defCpuPerGpu of the partition",
    "DefMemPerCPU": "set defMemPerCpu of the partition",
    "DefMemPerGPU": "set defMemPerGpu of the partition",
    "DefMemPerNode": "set defMemPerNode of the partition",
    "DenyAccounts": "set denyAccounts of the partition",
    "DenyQos": "set denyQos of the partition",
    "Exclusive": "set exclusive of the partition",
    "ExclusiveTopo": "set exclusive: TOPO of the partition",
    "ExclusiveUser": "set exclusive: USER of the partition",
    "GraceTime": "set graceTime of the partition",
    "Hidden": "set hidden of the partition",
    "JobDefaults": "set defCpuPerGpu or defMemPerGpu of the partition",
    "MaxCPUsPerNode": "set maxCpusPerNode of the partition",
    "MaxMemPerCPU": "set maxMemPerCpu of the partition",
    "MaxMemPerNode": "set maxMemPerNode of the partition",
    "MaxNodes": "set maxNodes of the partition",
    "MaxTime": "set maxTime of the partition",
    "MinNodes": "set minNodes of the partition",
    "Nodes": "set nodeSets of the partition",
    "OverSubscribe": "set overSubscribe of the partition",
    "PartitionName": "it is the name of the partition",
    "PreemptMode": "set preemptMode of the partition",
    "PriorityJobFactor": "set priorityJobFactor of the partition",
    "PriorityTier": "set priorityTier of the partition",
    "QOS": "set qos of the partition",
    "RootOnly": "set rootOnly of the partition",
    "State": "set state of the partition",
    "TRESBillingWeights": "set tresBillingWeights of the partition",
}


@dataclass(frozen=True)
class Keys:
    """For `Annotated[str, Keys…]`: the keys of one kind of line."""

    kind: str
    known: Mapping[str, str]  # a key in lower case to its spelling in the manual
    owned: Mapping[str, str]  # a key in lower case to what to set instead

    def check(self, key: str) -> str:
        """The key as the manual spells it."""
        folded = key.lower()
        if folded in self.owned:
            raise PydanticCustomError("slipway", "is not for extra; {instead}", {"instead": self.owned[folded]})
        if folded not in self.known:
            free = [spelled for known, spelled in self.known.items() if known not in self.owned]
            raise PydanticCustomError(
                "slipway",
                "`{key}` is not {kind} in Slurm 26.05{guess}",
                {"key": key, "kind": self.kind, "guess": did_you_mean(key, free) or "; see the manual of slurm.conf"},
            )
        return self.known[folded]

    @property
    def json_schema(self) -> dict[str, Any]:
        """For editors: the keys that may be used."""
        return {"propertyNames": {"enum": sorted(word for key, word in self.known.items() if key not in self.owned)}}

    def once(self, values: Any) -> Any:
        """Refuse one key in two spellings: the second would silently win."""
        seen: dict[str, str] = {}
        for key in values if isinstance(values, dict) else ():
            other = seen.setdefault(str(key).lower(), str(key))
            if other != key:
                raise PydanticCustomError(
                    "slipway",
                    "sets `{one}` and `{other}`, which Slurm takes for one key; keep one of them",
                    {"one": other, "other": key},
                )
        return values


def _keys(kind: str, words: str, owned: Mapping[str, str]) -> Keys:
    return Keys(
        kind,
        {word.lower(): word for word in words.split()},
        {key.lower(): instead for key, instead in owned.items()},
    )


CLUSTER_KEYS = _keys("a key of slurm.conf", _CLUSTER, _OWNED_CLUSTER)
MPI_KEYS = _keys("a key of mpi.conf", _MPI, {})
NODE_KEYS = _keys("a key of a NodeName line", _NODE, _OWNED_NODE)
PARTITION_KEYS = _keys("a key of a PartitionName line", _PARTITION, _OWNED_PARTITION)
