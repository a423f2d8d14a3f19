"""Keys of slurm.conf about what runs where and when: selection, scheduling, priorities, preemption and limits."""

from slurm.keys.entry import Table, drain_first, reconfigure
from slurm.keys.values import flag, minutes, names, number, options, word

_PRIORITY = "Priorities of pending jobs are worked out anew after a reconfigure."
_PREEMPT = "Holds for preemptions after a reconfigure; jobs that were suspended or requeued before it stay so."
_SCHEDULER = "The scheduler starts anew with it at a reconfigure; running jobs stay where they are."
_SUBMIT = "Decides about jobs that are submitted after a reconfigure."
_MEMORY = "Holds for jobs that are submitted after a reconfigure; others keep what they asked for or were given."

SCHEDULING: Table = {
    "BurstBufferType": drain_first(
        "Buffers that jobs hold or wait for are known only to the plugin that made them.",
        word,
        also=("restart-controller",),
    ),
    "DefCpuPerGPU": reconfigure(_SUBMIT, number),
    "DefMemPerCPU": reconfigure(_MEMORY, number, "0"),
    "DefMemPerGPU": reconfigure(_MEMORY, number, "0"),
    "DefMemPerNode": reconfigure(_MEMORY, number, "0"),
    "DependencyParameters": reconfigure("Dependencies are judged by it after a reconfigure.", options),
    "EnforcePartLimits": reconfigure(_SUBMIT, word, "no"),
    "FairShareDampeningFactor": reconfigure(_PRIORITY, number, "1"),
    "GresTypes": reconfigure(
        "All daemons load the plugins of generic resources anew at a reconfigure; counts are fields of nodes.",
        options,
    ),
    "LicenseParameters": reconfigure("Licenses are given out by these rules after a reconfigure.", options),
    "Licenses": reconfigure(
        "The pool has the new size after a reconfigure; jobs keep the licenses that they hold.", names
    ),
    "MaxMemPerCPU": reconfigure(_MEMORY, number, "0"),
    "MaxMemPerNode": reconfigure(_MEMORY, number, "0"),
    "OverTimeLimit": reconfigure("Jobs over their time are ended by the limit of the last reconfigure.", number, "0"),
    "PreemptExemptTime": reconfigure(_PREEMPT, minutes),
    "PreemptMode": reconfigure(_PREEMPT, options, "off"),
    "PreemptParameters": reconfigure(_PREEMPT, options),
    "PreemptType": reconfigure(_PREEMPT, word),
    "PriorityCalcPeriod": reconfigure(_PRIORITY, minutes, "5"),
    "PriorityDecayHalfLife": reconfigure(_PRIORITY, minutes, "7-0"),
    "PriorityFavorSmall": reconfigure(_PRIORITY, flag, "no"),
    "PriorityFlags": reconfigure(_PRIORITY, options),
    "PriorityMaxAge": reconfigure(_PRIORITY, minutes, "7-0"),
    "PriorityParameters": reconfigure(_PRIORITY, names),
    "PrioritySiteFactorParameters": reconfigure(_PRIORITY, names),
    "PrioritySiteFactorPlugin": reconfigure(_PRIORITY, word),
    "PriorityType": reconfigure(_PRIORITY, word, "priority/multifactor"),
    "PriorityUsageResetPeriod": reconfigure(
        "Usage is reset by the period of the last reconfigure; NOW clears all usage at that moment.", word, "none"
    ),
    "PriorityWeightAge": reconfigure(_PRIORITY, number, "0"),
    "PriorityWeightAssoc": reconfigure(_PRIORITY, number, "0"),
    "PriorityWeightFairshare": reconfigure(_PRIORITY, number, "0"),
    "PriorityWeightJobSize": reconfigure(_PRIORITY, number, "0"),
    "PriorityWeightPartition": reconfigure(_PRIORITY, number, "0"),
    "PriorityWeightQOS": reconfigure(_PRIORITY, number, "0"),
    "PriorityWeightTRES": reconfigure(_PRIORITY, options),
    "ResvOverRun": reconfigure(
        "Jobs in a reservation that has ended are given that long by the last reconfigure.", number, "0"
    ),
    "SchedulerParameters": reconfigure(_SCHEDULER, options),
    "SchedulerTimeSlice": reconfigure(_SCHEDULER, number, "30"),
    "SchedulerType": reconfigure(_SCHEDULER, word, "sched/backfill"),
    "SelectType": drain_first(
        "Each plugin saves jobs in a format of its own: under another, all running and pending jobs would be lost.",
        word,
        "select/cons_tres",
        also=("restart-controller",),
    ),
    "SelectTypeParameters": reconfigure(
        "New jobs are placed by it after a reconfigure; jobs that run keep what they have, by the old rule.",
        options,
        "CR_Core_Memory",
    ),
    "TopologyParam": reconfigure(_SCHEDULER, options),
    "TopologyPlugin": reconfigure(_SCHEDULER, word),
}
