"""Names that Slurm Bridge 1.2 gives to what it writes to and reads from pods and nodes."""

JOB_ID = "scheduler.slinky.slurm.net/slurm-jobid"  # label of a pod
FINALIZER = "scheduler.slinky.slurm.net/finalizer"  # of a pod, until its job has ended
CHOSEN_NODE = "slinky.slurm.net/slurm-node"  # annotation of a pod
SLURM_NODE = "slinky.slurm.net/slurm-nodename"  # label of a node that has another name in Slurm
EXTERNAL = "scheduler.slinky.slurm.net/external-node"  # label of a node that is to be one of Slurm's
PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"  # annotation of such a node
TAINT = "slinky.slurm.net/managed-node"
SUBMIT = "slurmjob.slinky.slurm.net/"  # annotations of workloads that say how their jobs are submitted
REASON = "slurm-bridge:"  # how a reason begins that is the bridge's own


def taint(scheduler: str) -> dict[str, str]:
    return {"key": TAINT, "value": scheduler, "effect": "NoExecute"}


def toleration(scheduler: str) -> dict[str, str]:
    return {**taint(scheduler), "operator": "Equal"}


def in_slurm(node: dict) -> str:
    """What Slurm calls a node of Kubernetes."""
    return node["metadata"].get("labels", {}).get(SLURM_NODE) or node["metadata"]["name"]
