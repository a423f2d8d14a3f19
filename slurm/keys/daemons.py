"""Keys of slurm.conf about the daemons themselves: names, files, logs, health of nodes, and power saving."""

from slurm.keys.entry import Table, drain_first, live, reconfigure, refused, restart_controller, restart_workers
from slurm.keys.values import flag, hosts, level, names, number, options, word

_LOG = "Logs are opened anew at a reconfigure."
_SCRIPT = "The next time that it is due, the program of the last reconfigure runs."
_PID_FILE = "The file with the process id is made at the start, and stays where it is over a reconfigure."
_POWER = "The power saving thread reads it at a reconfigure."
_HEALTH = "slurmd and slurmctld check the health of nodes as the last reconfigure says."
_THREADS = "Connections and threads are set up when the daemon starts."

DAEMONS: Table = {
    "AllowSpecResourcesUsage": reconfigure("Decides about jobs that are submitted after a reconfigure.", flag, "no"),
    "CliFilterParameters": reconfigure("Commands read it each time they run.", names),
    "CliFilterPlugins": reconfigure("Commands load these filters each time they run.", word),
    "ClusterName": refused(
        "The saved state belongs to the cluster's name: under another, slurmctld refuses to start, and jobs and "
        "accounts would stay with the old name. Set it back, or build a new stack."
    ),
    "DataParserParameters": reconfigure("Commands choose how to print JSON and YAML each time they run."),
    "DebugFlags": reconfigure("All daemons log what the flags of the last reconfigure ask for.", options),
    "FederationParameters": reconfigure("Federations are joined as the last reconfigure says.", options),
    "GroupUpdateForce": reconfigure("Group memberships are read by this rule after a reconfigure.", number, "1"),
    "GroupUpdateTime": reconfigure("Group memberships are read by this rule after a reconfigure.", number, "600"),
    "HealthCheckInterval": reconfigure(_HEALTH, number, "0"),
    "HealthCheckNodeState": reconfigure(_HEALTH, options, "any"),
    "HealthCheckProgram": reconfigure(_HEALTH),
    "HealthCheckTimeout": reconfigure(_HEALTH, number),
    "LogTimeFormat": reconfigure(_LOG, options, "iso8601_ms"),
    "MailDomain": reconfigure("Used for the next mail."),
    "MailProg": reconfigure(_SCRIPT),
    "MaxNodeCount": reconfigure("The table of nodes is made anew at a reconfigure, with room for that many.", number),
    "NodeFeaturesPlugins": restart_workers(
        "slurmd finds out what a node can change about itself when it starts.", options
    ),
    "PluginDir": restart_workers(
        "Daemons load plugins from the directory that they started with.", also=("restart-controller",)
    ),
    "RebootProgram": reconfigure(_SCRIPT),
    "ReconfigFlags": reconfigure("Which live edits survive is decided by the file that a reconfigure reads.", options),
    "ResumeFailProgram": reconfigure(_SCRIPT),
    "ResumeProgram": reconfigure(_SCRIPT),
    "ResumeRate": reconfigure(_POWER, number, "300"),
    "ResumeTimeout": reconfigure(_POWER, number, "60"),
    "ReturnToService": reconfigure("Decides about the next node that comes back.", number, "0"),
    "SlurmctldDebug": live("slurmctld changes its log level at once.", level, "info", update="setdebug"),
    "SlurmctldLogFile": reconfigure(_LOG),
    "SlurmctldParameters": reconfigure("slurmctld reads its options at a reconfigure.", options),
    "SlurmctldPidFile": restart_controller(_PID_FILE),
    "SlurmctldPrimaryOffProg": reconfigure(_SCRIPT),
    "SlurmctldPrimaryOnProg": reconfigure(_SCRIPT),
    "SlurmctldSyslogDebug": reconfigure(_LOG, level),
    "SlurmctldTimeout": reconfigure("A backup controller waits that long from the next reconfigure.", number, "120"),
    "SlurmdDebug": reconfigure(_LOG, level, "info"),
    "SlurmdLogFile": reconfigure(_LOG),
    "SlurmdParameters": reconfigure("slurmd reads its options at a reconfigure.", options),
    "SlurmdPidFile": restart_workers(_PID_FILE),
    "SlurmdSpoolDir": drain_first(
        "slurmd finds its running steps in this directory; with another it knows none of them, and they count as lost.",
        also=("restart-workers",),
    ),
    "SlurmdSyslogDebug": reconfigure(_LOG, level),
    "SlurmdTimeout": reconfigure(
        "Nodes that do not answer are given that long from the next reconfigure.", number, "300"
    ),
    "SlurmdUser": drain_first(
        "Files and processes of running steps belong to the old user.", also=("restart-workers",)
    ),
    "SlurmSchedLogFile": reconfigure(_LOG),
    "SlurmSchedLogLevel": reconfigure(_LOG, number, "0"),
    "SlurmUser": refused(
        "The saved state, keys and pods belong to the present user; a controller that runs as another cannot read them."
    ),
    "StateSaveLocation": refused(
        "slurmctld would take the new place for its state without complaint and find it empty: every job and every "
        "reservation would be gone. Set it back."
    ),
    "SuspendExcNodes": reconfigure(_POWER, hosts),
    "SuspendExcParts": reconfigure(_POWER, names),
    "SuspendExcStates": reconfigure(_POWER, options),
    "SuspendProgram": reconfigure(_SCRIPT),
    "SuspendRate": reconfigure(_POWER, number, "60"),
    "SuspendTime": reconfigure(_POWER, number, "infinite"),
    "SuspendTimeout": reconfigure(_POWER, number, "30"),
    "TmpFS": restart_workers("slurmd measures the temporary file system that it reports when it starts."),
}

# Parts of SlurmctldParameters and SlurmdParameters that take more than the rest.
SLURMCTLD_OPTIONS: Table = {
    "enable_configless": restart_controller("slurmctld decides when it starts whether it hands out config files."),
    "conmgr_": restart_controller(_THREADS),
}
_SHAPE = drain_first(
    "The node would report other sockets and cores, and jobs on a node whose shape changes are aborted.",
    also=("restart-workers",),
)
SLURMD_OPTIONS: Table = {
    "allow_ecores": _SHAPE,
    "l3cache_as_socket": _SHAPE,
    "numa_node_as_socket": _SHAPE,
    "conmgr_": restart_workers(_THREADS),
}
