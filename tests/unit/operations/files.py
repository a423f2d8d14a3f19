"""Files of a small cluster, and changes of them."""

BASE = {
    "slurm.conf": """\
ClusterName=dev
SlurmctldHost=controller-0(controller-0.controller.science.svc.cluster.local)
SlurmctldPort=6817
SlurmdPort=6818
StateSaveLocation=/var/spool/slurmctld
SchedulerParameters=bf_continue
SlurmctldDebug=info
NodeName=worker-[0-2] NodeAddr=worker-[0-2].worker.science.svc.cluster.local CPUs=1 RealMemory=1024 Feature=worker
NodeSet=burst Feature=burst
PartitionName=main Nodes=worker-[0-2],burst Default=YES State=UP MaxTime=UNLIMITED
PartitionName=debug Nodes=worker-0 State=UP MaxTime=60
""",
    "cgroup.conf": "ConstrainCores=yes\n",
}


def changed(*replacements: tuple[str, str]) -> dict[str, str]:
    """The same files with other words in slurm.conf."""
    conf = BASE["slurm.conf"]
    for old, new in replacements:
        assert old in conf, old
        conf = conf.replace(old, new)
    return {**BASE, "slurm.conf": conf}


LIVE = changed(("MaxTime=60", "MaxTime=120"))
RECONFIGURED = changed(("bf_continue", "bf_continue,bf_interval=60"))
RESTARTED = changed(("SlurmctldDebug=info\n", "SlurmctldDebug=info\nMCSPlugin=mcs/user\n"))
GROWN = changed(("worker-[0-2]", "worker-[0-3]"))
SHRUNK = changed(("worker-[0-2]", "worker-[0-1]"))
NO_DEBUG = changed(("PartitionName=debug Nodes=worker-0 State=UP MaxTime=60\n", ""))
ELASTIC = changed(
    ("NodeSet=burst", "NodeName=elastic-[0-9] CPUs=1 RealMemory=1024 State=CLOUD SuspendTime=60\nNodeSet=burst")
)
LARGER = changed(("CPUs=1", "CPUs=2"))
