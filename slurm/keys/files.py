"""Every file beside slurm.conf: how it is read, and what a change of each of its keys takes."""

from dataclasses import dataclass, field, replace
from typing import Literal

from config.slurm_keys import MPI_KEYS
from slurm.keys.entry import (
    Entry,
    Table,
    drain_first,
    reconfigure,
    restart_controller,
    restart_slurmdbd,
    restart_workers,
)
from slurm.keys.nodes import NODE
from slurm.keys.slurmdbd import SLURMDBD
from slurm.keys.values import flag, hosts, names, number, options, word

Shape = Literal["keys", "records", "nodes", "gres", "lines", "text"]

DYNAMIC_NODES = "dynamic-nodes.conf"  # ours, and none of Slurm's


@dataclass(frozen=True, slots=True)
class File:
    """`keys`: one key a line. `records`: lines that begin with one of `heads` and have fields. `nodes`: NodeName lines.
    `gres`: records that belong to nodes. `lines`: an ordered list. `text`: compared as a whole, with `comments` where
    `#` begins one.

    `whole` is what a change of all of it takes; for a file of keys, what it takes that the file comes or goes, where a
    daemon comes or goes with it."""

    shape: Shape
    keys: Table = field(default_factory=dict)
    heads: tuple[str, ...] = ()
    whole: Entry | None = None
    comments: bool = False


_NEW_STEPS = "Holds for steps that start after a reconfigure."
_CGROUPS = "slurmd sets up its control groups when it starts, and finds those of running steps by the same rules."
_LIMITS = "Steps that start after a reconfigure are held to it."
_ENERGY = "slurmd starts the gathering of usage data once, when it starts."
_CONTAINERS = "slurmd reads how containers are run when it starts."
_NAMESPACE = "slurmd reads it when it starts, and jobs that run on the worker may lose their mounts."
_TOPOLOGY = "Jobs are placed by the new topology after a reconfigure; running ones stay where they are."
_HELPERS = "Helpers of node features are read at a reconfigure."
_BUFFERS = "The burst buffer plugin reads it at a reconfigure."
_GRES = (
    "Jobs that hold devices of a node are requeued when it offers another number of them, and of what is only counted "
    "jobs would go on to hold more than there is."
)
_DYNAMIC = "A dynamic node says what it has when it starts, so that its worker has to start anew."
_LUA = "The script is loaded anew at a reconfigure; workers and logins fetch theirs from slurmctld."

_MAIL = "The next mail is sent by it; slurmctld itself does not read it."

_TIMES = ("OtherTimeout", "PollInterval", "StageInTimeout", "StageOutTimeout", "ValidateTimeout")

CGROUP: Table = {
    "CgroupMountpoint": restart_workers(_CGROUPS),
    "CgroupPlugin": restart_workers(_CGROUPS, word, "autodetect"),
    "CgroupSlice": restart_workers(_CGROUPS, default="system.slice"),
    "CgroupJobIdPaths": restart_workers(_CGROUPS, flag),
    "SystemdTimeout": restart_workers(_CGROUPS, number),
    "IgnoreSystemd": restart_workers(_CGROUPS, flag, "no"),
    "IgnoreSystemdOnFailure": restart_workers(_CGROUPS, flag, "no"),
    "EnableControllers": restart_workers(_CGROUPS, flag, "no"),
    "EnableExtraControllers": restart_workers(_CGROUPS, options),
    "AllowedRAMSpace": reconfigure(_LIMITS, number, "100"),
    "AllowedSwapSpace": reconfigure(_LIMITS, number, "0"),
    "ConstrainCores": reconfigure(_LIMITS, flag, "no"),
    "ConstrainDevices": reconfigure(_LIMITS, flag, "no"),
    "ConstrainRAMSpace": reconfigure(_LIMITS, flag, "no"),
    "ConstrainSwapSpace": reconfigure(_LIMITS, flag, "no"),
    "MaxRAMPercent": reconfigure(_LIMITS, number, "100"),
    "MaxSwapPercent": reconfigure(_LIMITS, number, "100"),
    "MemorySwappiness": reconfigure(_LIMITS, number),
    "MinRAMSpace": reconfigure(_LIMITS, number, "30"),
    "SignalChildrenProcesses": reconfigure(_NEW_STEPS, flag, "no"),
}

GRES: Table = {
    key: drain_first(_GRES, hosts if key in ("NodeName", "File") else word, also=("restart-workers",))
    for key in ("AutoDetect", "Count", "Cores", "File", "Flags", "Links", "MultipleFiles", "Name", "NodeName", "Type")
}

MPI: Table = {key: reconfigure(_NEW_STEPS) for key in MPI_KEYS.known.values()}

_GATHERED = (
    "EnergyIPMIFrequency EnergyIPMICalcAdjustment EnergyIPMIPowerSensors EnergyIPMIUsername EnergyIPMITimeout "
    "ProfileHDF5Dir ProfileHDF5Default ProfileInfluxDBDatabase ProfileInfluxDBDefault ProfileInfluxDBExtraTags "
    "ProfileInfluxDBFlags ProfileInfluxDBFrequency ProfileInfluxDBHost ProfileInfluxDBRTPolicy ProfileInfluxDBUser "
    "ProfileInfluxDBTimeout InfinibandOFEDPort SysfsInterfaces"
)
ACCT_GATHER: Table = {
    **{key: restart_workers(_ENERGY) for key in _GATHERED.split()},
    **{key: Entry("restart-workers", _ENERGY, secret=True) for key in ("EnergyIPMIPassword", "ProfileInfluxDBPass")},
}

_OCI = (
    "ContainerPath CreateEnvFile DebugFlags DisableCleanup DisableHooks EnvExclude FileDebug IgnoreFileConfigJson "
    "MountSpoolDir RunTimeCreate RunTimeDelete RunTimeEnvExclude RunTimeKill RunTimeQuery RunTimeRun RunTimeStart "
    "SrunArgs SrunPath StdIODebug SyslogDebug"
)
OCI: Table = {key: restart_workers(_CONTAINERS) for key in _OCI.split()}

BURST_BUFFER: Table = {
    **{key: reconfigure(_BUFFERS, names) for key in ("AllowUsers", "DenyUsers", "Flags")},
    **{
        key: reconfigure(_BUFFERS) for key in ("DefaultPool", "Directive", "GetSysState", "GetSysStatus", "PrivateData")
    },
    **{key: reconfigure(_BUFFERS, number) for key in _TIMES},
}

HELPERS: Table = {
    key: reconfigure(_HELPERS)
    for key in ("AllowUserBoot", "BootTime", "ExecTime", "Feature", "Helper", "Flags", "MutuallyExclusive")
}

_CONTAINER_KEYS = (
    "AutoBasePath BasePath CloneNSScript CloneNSScript_Wait CloneNSEpilog CloneNSEpilog_Wait EntireStepInNS InitScript "
    "NodeName Shared Dirs"
)
JOB_CONTAINER: Table = {key: restart_workers(_NAMESPACE) for key in _CONTAINER_KEYS.split()}

TOPOLOGY: Table = {
    **{key: reconfigure(_TOPOLOGY) for key in ("SwitchName", "BlockName", "RingName", "LinkSpeed", "BlockSizes")},
    **{key: reconfigure(_TOPOLOGY, hosts) for key in ("Switches", "Nodes")},
}

DYNAMIC: Table = {
    key: replace(entry, cls="restart-workers", reason=_DYNAMIC, update="", cleared=None, also=())
    for key, entry in NODE.items()
}

FILES: dict[str, File] = {
    "acct_gather.conf": File("keys", ACCT_GATHER),
    "burst_buffer.conf": File("keys", BURST_BUFFER),
    "cgroup.conf": File("keys", CGROUP),
    DYNAMIC_NODES: File("nodes", DYNAMIC),
    "gres.conf": File("gres", GRES),
    "helpers.conf": File("records", HELPERS, heads=("Feature", "MutuallyExclusive")),
    "job_container.conf": File("records", JOB_CONTAINER, heads=("NodeName",)),
    "mpi.conf": File("keys", MPI),
    "oci.conf": File("keys", OCI),
    "slurmdbd.conf": File(
        "keys",
        SLURMDBD,
        whole=restart_slurmdbd("slurmdbd comes and goes with this file; slurmctld looks for it when it starts."),
    ),
    "topology.conf": File("records", TOPOLOGY, heads=("SwitchName", "BlockName", "RingName")),
    "plugstack.conf": File(
        "lines",
        whole=reconfigure("SPANK plugins are read for every step; workers keep the list that a reconfigure brought."),
    ),
    "topology.yaml": File("text", whole=reconfigure(_TOPOLOGY), comments=True),
    "namespace.yaml": File("text", whole=restart_workers(_NAMESPACE), comments=True),
    "resources.yaml": File(
        "text",
        whole=restart_controller("Resources with layers are laid out when slurmctld starts."),
        comments=True,
    ),
    **{name: File("text", whole=reconfigure(_LUA)) for name in ("cli_filter.lua", "job_submit.lua", "scrun.lua")},
    **{name: File("text", whole=reconfigure(_MAIL)) for name in ("mail.conf", "mail-program")},
    "burst_buffer.lua": File("text", whole=reconfigure(_BUFFERS)),
    "jobcomp.lua": File("text", whole=reconfigure(_LUA)),
    **{
        name: File(
            "text",
            whole=Entry(
                "restart-controller", "Tokens are checked with the key that the daemon read at its start.", secret=True
            ),
        )
        for name in ("jwt_hs256.key", "jwks.json")
    },
    **{
        name: File(
            "text",
            whole=Entry(
                "drain-first",
                "Every daemon and command has to change to the new key together, and running steps keep the old one.",
                also=("restart-controller", "restart-workers"),
                secret=True,
            ),
        )
        for name in ("slurm.key", "slurm.jwks", "munge.key")
    },
}

# Files that a slurm.conf names are scripts, of any name.
_SCRIPT_KEYS = (
    "Epilog EpilogSlurmctld HealthCheckProgram JobCompPassScript MailProg Prolog PrologSlurmctld RebootProgram "
    "ResumeFailProgram ResumeProgram ResvEpilog ResvProlog SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SrunEpilog "
    "SrunProlog SuspendProgram TaskEpilog TaskProlog UnkillableStepProgram"
)
SCRIPT_KEYS = tuple(_SCRIPT_KEYS.split())
SCRIPT = File(
    "text",
    whole=reconfigure("Workers fetch the script from slurmctld at a reconfigure; the next job that needs it runs it."),
)
