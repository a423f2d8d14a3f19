"""Fields of the PartitionName lines of slurm.conf, and what `scontrol update PartitionName=…` makes of them."""

from slurm.keys.entry import Table, live, reconfigure
from slurm.keys.values import flag, hosts, minutes, names, number, options, word

_ACCESS = "Decides about jobs that are submitted from now on, and about pending ones when they are looked at next."
_LIMIT = "Jobs that run keep the limit that they started with; pending and new ones get the new one."
_PLACING = "Jobs that start from now on are placed by it."
_PREEMPTION = "Holds for preemptions from now on."
_MEMORY = "Jobs that are submitted from now on get it; others keep what they asked for or were given."
_PER_GPU = "Jobs that are submitted from now on get it; scontrol sets it as a part of JobDefaults."
_POWER = "scontrol cannot set it; the power saving thread reads it at a reconfigure."

# Fields without a default here fall back to a value of the whole cluster, or to none that scontrol could set: taking
# such a field out of the file is a reconfigure.
PARTITION: Table = {
    "PartitionName": live("A partition comes and goes at once; nothing else changes for the others."),
    "AllocNodes": live(_ACCESS, names, "ALL"),
    "AllowAccounts": live(_ACCESS, names, "ALL"),
    "AllowGroups": live(_ACCESS, names, "ALL"),
    "AllowQos": live(_ACCESS, names, "ALL"),
    "Alternate": live("Jobs go there while this partition is drained or inactive.", cleared="NONE"),
    "CpuBind": live("Holds for steps that start from now on.", word, "off"),
    "Default": live("Jobs that name no partition go to the default one from now on.", flag, "NO"),
    "DefaultTime": live(_LIMIT, minutes),
    "DefCpuPerGPU": live(_PER_GPU, number, update="JobDefaults"),
    "DefMemPerCPU": live(_MEMORY, number),
    "DefMemPerGPU": live(_PER_GPU, number, update="JobDefaults"),
    "DefMemPerNode": live(_MEMORY, number),
    "DenyAccounts": live(_ACCESS, names, cleared=""),
    "DenyQos": live(_ACCESS, names, cleared=""),
    "DisableRootJobs": live(_ACCESS, flag),
    "Exclusive": live(_PLACING, word, "NO"),
    "GraceTime": live(_PREEMPTION, number, "0"),
    "Hidden": live("Commands show or hide the partition from now on.", flag, "NO"),
    "LLN": live(_PLACING, flag, "NO"),
    "MaxCPUsPerNode": live(_PLACING, number, "UNLIMITED"),
    "MaxCPUsPerSocket": live(_PLACING, number, "UNLIMITED"),
    "MaxMemPerCPU": live(_MEMORY, number),
    "MaxMemPerNode": live(_MEMORY, number),
    "MaxNodes": live(_LIMIT, number, "UNLIMITED"),
    "MaxTime": live(_LIMIT, minutes, "UNLIMITED"),
    "MinNodes": live(_LIMIT, number, "0"),
    "Nodes": live("Jobs that run stay where they are; others are placed on the nodes of the new list.", hosts),
    "OverSubscribe": live(_PLACING, word, "NO"),
    "OverTimeLimit": live("Jobs over their time are ended by the new limit.", number),
    "PowerDownOnIdle": live("Nodes that become idle from now on are powered down by it.", flag, "NO"),
    "PreemptMode": live(_PREEMPTION, options),
    "PriorityJobFactor": live("Priorities of pending jobs are worked out anew.", number, "1"),
    "PriorityTier": live("Pending jobs are looked at in the new order.", number, "1"),
    "QOS": live(_ACCESS, cleared=""),
    "ReqResv": live(_ACCESS, flag, "NO"),
    "ResumeTimeout": reconfigure(_POWER, number),
    "RootOnly": live(_ACCESS, flag, "NO"),
    "SelectTypeParameters": reconfigure(
        "scontrol cannot set it; new jobs are placed by it after a reconfigure.", options
    ),
    "State": live("Jobs that run go on; whether jobs may be queued and started changes at once.", word, "UP"),
    "SuspendTime": reconfigure(_POWER, number),
    "SuspendTimeout": reconfigure(_POWER, number),
    "Topology": live(_PLACING),
    "TRESBillingWeights": reconfigure(
        "scontrol would set it for new jobs, but what nodes and partitions are worth is added up at a reconfigure.",
        options,
    ),
}

# Spellings that slurm.conf still accepts besides those of the manual.
PARTITION_ALIASES = {"Shared": "OverSubscribe"}
