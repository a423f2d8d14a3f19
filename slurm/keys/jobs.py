"""Keys of slurm.conf about jobs: how they are accepted, launched, watched, ended and cleaned up after."""

from slurm.keys.entry import Table, drain_first, reconfigure, restart_workers
from slurm.keys.values import names, number, options, word

_SUBMIT = "Decides about jobs that are submitted after a reconfigure."
_LAUNCH = "Holds for steps that are launched after a reconfigure; those that run keep what they started with."
_END = "Holds for jobs that end after a reconfigure."
_SCRIPT = "The script of the last reconfigure runs the next time that it is due; workers fetch it from slurmctld."
_LIMIT = "slurmctld makes room for that many at a reconfigure; what is above it already stays."
_COMMAND = "Commands read it each time they run."
_TRACKING = "Steps that run are tracked as they began; each worker changes over once it has none."

JOBS: Table = {
    "BatchStartTimeout": reconfigure(_LAUNCH, number, "10"),
    "BcastExclude": reconfigure(_COMMAND, names, "/lib,/usr/lib,/lib64,/usr/lib64"),
    "BcastParameters": reconfigure(_COMMAND, options),
    "CompleteWait": reconfigure(_END, number, "0"),
    "CpuFreqDef": reconfigure(_LAUNCH, word),
    "CpuFreqGovernors": reconfigure(_LAUNCH, options, "OnDemand,Performance,UserSpace"),
    "EioTimeout": reconfigure(_LAUNCH, number, "60"),
    "Epilog": reconfigure(_SCRIPT),
    "EpilogMsgTime": reconfigure(_END, number, "2000"),
    "EpilogSlurmctld": reconfigure(_SCRIPT),
    "EpilogTimeout": reconfigure(_END, number),
    "FirstJobId": reconfigure("Job ids go on above the highest one that slurmctld knows.", number, "1"),
    "GpuFreqDef": reconfigure(_LAUNCH, word),
    "InactiveLimit": reconfigure(
        "Allocations that do nothing are ended by the limit of the last reconfigure.", number, "0"
    ),
    "InteractiveStepOptions": reconfigure(_COMMAND),
    "JobFileAppend": reconfigure(_LAUNCH, number, "0"),
    "JobRequeue": reconfigure(_SUBMIT, number, "1"),
    "JobSubmitPlugins": reconfigure("slurmctld loads the filters of submitted jobs anew at a reconfigure."),
    "KillOnBadExit": reconfigure(_LAUNCH, number, "0"),
    "KillWait": reconfigure(_END, number, "30"),
    "LaunchParameters": reconfigure(_LAUNCH, options),
    "MaxArraySize": reconfigure(_LIMIT, number, "1001"),
    "MaxBatchRequeue": reconfigure(_END, number, "5"),
    "MaxJobCount": reconfigure(_LIMIT, number, "10000"),
    "MaxJobId": reconfigure(_LIMIT, number, "67043328"),
    "MaxStepCount": reconfigure(_LAUNCH, number, "40000"),
    "MaxTasksPerNode": reconfigure(_LAUNCH, number, "512"),
    "MinJobAge": reconfigure(
        "Ended jobs are forgotten after that long, counted by the last reconfigure.", number, "300"
    ),
    "MpiDefault": reconfigure(_LAUNCH, word),
    "MpiParams": reconfigure(_LAUNCH, options),
    "NamespaceType": restart_workers(
        "Steps that run live in namespaces that only the old plugin can join and remove.",
        word,
        also=("restart-controller",),
    ),
    "PlugStackConfig": reconfigure("SPANK plugins are read for every step that starts after a reconfigure."),
    "PrEpParameters": reconfigure(_SCRIPT, names),
    "PrEpPlugins": reconfigure(_SCRIPT, names, "prep/script"),
    "ProctrackType": restart_workers(_TRACKING, word),
    "Prolog": reconfigure(_SCRIPT),
    "PrologEpilogTimeout": reconfigure(_END, number),
    "PrologFlags": reconfigure(
        "Prologs run by these rules for jobs that start after a reconfigure; jobs that run get no new extern step.",
        options,
    ),
    "PrologSlurmctld": reconfigure(_SCRIPT),
    "PrologTimeout": reconfigure(_LAUNCH, number),
    "PropagatePrioProcess": reconfigure(_LAUNCH, number, "0"),
    "PropagateResourceLimits": reconfigure(_LAUNCH, options, "all"),
    "PropagateResourceLimitsExcept": reconfigure(_LAUNCH, options),
    "RequeueExit": reconfigure(_END, names),
    "RequeueExitHold": reconfigure(_END, names),
    "ResvEpilog": reconfigure(_SCRIPT),
    "ResvProlog": reconfigure(_SCRIPT),
    "ScronParameters": reconfigure("slurmctld decides by it about crontabs after a reconfigure.", options),
    "SrunEpilog": reconfigure(_COMMAND),
    "SrunProlog": reconfigure(_COMMAND),
    "SwitchParameters": drain_first(
        "What running jobs hold of the interconnect was given out by the old parameters, and could be given out twice.",
        names,
    ),
    "SwitchType": drain_first(
        "Job records hold what the old plugin wrote; read by another, records of all jobs may be lost.",
        word,
        also=("restart-controller", "restart-workers"),
    ),
    "TaskEpilog": reconfigure(_SCRIPT),
    "TaskPlugin": reconfigure(_LAUNCH, word),
    "TaskPluginParam": reconfigure(_LAUNCH, options),
    "TaskProlog": reconfigure(_SCRIPT),
    "UnkillableStepProgram": reconfigure(_END),
    "UnkillableStepTimeout": reconfigure(_END, number, "60"),
    "VSizeFactor": reconfigure(_LAUNCH, number, "0"),
    "WaitTime": reconfigure(_LAUNCH, number, "0"),
    "X11Parameters": reconfigure(_LAUNCH, options),
}
