"""Fields of the lines NodeName, NodeSet, DownNodes and PowerAction of slurm.conf."""

from slurm.keys.entry import Table, drain_first, live, reconfigure, restart_workers
from slurm.keys.values import hosts, names, number, options, word

_SHAPE = "Jobs on a node whose CPUs, sockets, cores or threads change are requeued when slurmctld reads the file."
_RESERVED = "slurmd sets aside what no job may use when it starts."

NODE: Table = {
    "NodeName": reconfigure("Nodes come and go at a reconfigure.", hosts),
    "NodeHostname": reconfigure("A node is looked up by this name; all daemons read it at a reconfigure."),
    "NodeAddr": live("slurmctld looks for the node at the new address at once."),
    "BcastAddr": reconfigure("File broadcasts go to this address after a reconfigure."),
    "Boards": drain_first(_SHAPE, number, "1", also=("restart-workers",)),
    "CoreSpecCount": restart_workers(_RESERVED, number, "0", also=("reconfigure",)),
    "CoresPerSocket": drain_first(_SHAPE, number, also=("restart-workers",)),
    "CpuBind": live("Holds for steps that start from now on.", word, "off"),
    "CPUs": drain_first(_SHAPE, number, also=("restart-workers",)),
    "CpuSpecList": restart_workers(_RESERVED, names, also=("reconfigure",)),
    "Features": live(
        "The node offers the new features to jobs that wait; jobs that run stay.",
        names,
        update="Features",
        cleared="",
    ),
    "Gres": drain_first(
        "Jobs that hold devices of a node are requeued when slurmctld reads another number of them, and of what is "
        "only counted jobs would go on to hold more than there is; slurmd has to offer the same number.",
        options,
        also=("restart-workers",),
    ),
    "MemSpecLimit": restart_workers(_RESERVED, number, "0", also=("reconfigure",)),
    "Parameters": restart_workers("slurmd reads the parameters of its node when it starts.", options),
    "Port": restart_workers(
        "slurmd opens its port when it starts; until then the controller looks for it where nothing listens.",
        also=("reconfigure",),
    ),
    "Procs": drain_first(_SHAPE, number, also=("restart-workers",)),
    "RealMemory": restart_workers(
        "A worker has to have the memory that the file claims for it: one that reports less is not used.",
        number,
        "1",
        also=("reconfigure",),
    ),
    "Reason": reconfigure("It goes with a State of the file, and is read at a reconfigure."),
    "RestrictedCoresPerGPU": drain_first(
        "Cores that belong to GPUs only may be in use by other jobs.", number, "0", also=("restart-workers",)
    ),
    "Sockets": drain_first(_SHAPE, number, also=("restart-workers",)),
    "SocketsPerBoard": drain_first(_SHAPE, number, also=("restart-workers",)),
    "SuspendTime": reconfigure("The power saving thread reads it at a reconfigure.", number),
    "State": reconfigure(
        "The state in the file is one to begin with: a reconfigure sets it, and taking it out of the file again does "
        "not resume the node.",
        word,
        "unknown",
    ),
    "ThreadsPerCore": drain_first(_SHAPE, number, also=("restart-workers",)),
    "TmpDisk": reconfigure("Holds for jobs that are placed after a reconfigure.", number, "0"),
    "Topology": live("The node moves in the topology at once; jobs that run stay where they are.", names),
    "Weight": live("Nodes are chosen by the new weight from now on.", number, "1"),
}

# Spellings that slurm.conf accepts besides those of the manual.
NODE_ALIASES = {"Feature": "Features", "Procs": "CPUs"}

NODE_SET: Table = {
    "NodeSet": reconfigure("Sets of nodes are made at a reconfigure."),
    "Feature": reconfigure("Which nodes have the feature is looked up at a reconfigure."),
    "Nodes": reconfigure("Partitions take up the nodes of a set at a reconfigure.", hosts),
}

DOWN_NODES: Table = {
    "DownNodes": reconfigure("The state is set at a reconfigure; taking the line out again does not resume the nodes."),
    "Reason": reconfigure("It goes with the State of the line, and is read at a reconfigure."),
    "State": reconfigure("The state is set at a reconfigure.", word, "down"),
}

POWER_ACTION: Table = {
    "PowerAction": reconfigure("Actions are defined at a reconfigure."),
    "Location": reconfigure("The next action runs where the last reconfigure says.", word),
    "Program": reconfigure("The next action runs the program of the last reconfigure."),
}
