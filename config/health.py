"""`health`: how nodes are looked after, and what becomes of those that fail."""

from typing import Annotated, Literal

from pydantic import Field

from config.section import Section
from config.types import Choice, DnsLabel, Integer, Interval, LabelKey, Script, Switch

MARK = "#@ "  # begins the lines that stand between the scripts in the file that workers get

BuiltIn = Annotated[Literal["jail", "disk", "memory", "gpus", "clock"], Choice()]
Percent = Annotated[Integer, Field(ge=0, le=100)]
Scripts = dict[DnsLabel, Script]


class Reboot(Section):
    """Machines are rebooted by the platform below Kubernetes, which is asked for it by an annotation of the node."""

    annotation: LabelKey = Field(default="slipway/reboot-requested", examples=["slipway/reboot-requested"])
    """The annotation: its value is the time and the reason. It is set when no job is left on the machine."""

    timeout: Interval = Field(default=Interval(3600), examples=["1h"])
    """How long a machine may take after `scontrol reboot`, until Slurm calls its nodes DOWN."""


class Health(Section):
    """Checks of every node, and a caretaker that mirrors what Kubernetes does to machines and replaces stuck pods.

    Only drains with a reason that begins with `slipway:` are ever taken away. One that an administrator made stays."""

    enabled: Switch = Field(default=False, examples=[True])
    """Look after nodes: checks on the workers, and the caretaker beside slurmctld, who may look at Kubernetes nodes and
    end worker pods."""

    interval: Interval = Field(default=Interval(60), examples=["60s"])
    """How often every node is checked."""

    timeout: Interval = Field(default=Interval(20), examples=["20s"])
    """How long all checks of a node may take together. One that does not answer has failed. At most 50s, and 3s less
    than the interval."""

    skip: list[BuiltIn] = Field(default=[], examples=[["memory"]])
    """Built-in checks that are left out: `jail`, `disk`, `memory`, `gpus`, `clock`."""

    disk_free: Percent = Field(default=2, examples=[5])
    """Percent of the disks of slurmd and of jobs' `/tmp` that must be free. The shared root is not looked at: that it
    fills up is no fault of a node."""

    memory_free: Percent = Field(default=1, examples=[2])
    """Percent of the machine's memory that must be available."""

    clock_offset: Interval = Field(default=Interval(30), examples=["30s"])
    """By how much a node's clock may differ from slurmctld's. At 5 minutes they no longer believe each other."""

    checks: Scripts = Field(
        default={}, examples=[{"infiniband": "grep -q ACTIVE /sys/class/infiniband/*/ports/1/state"}]
    )
    """Your own checks, by name: scripts that run as root on every worker, outside the shared root (`/mnt/jail`). One
    that ends with an error has failed, and its last line says why. If that begins with `reboot:`, a reboot is asked
    for. Users can read them."""

    prolog: Scripts = Field(default={}, examples=[{"scratch": "mkdir -p /mnt/jail/scratch/$SLURM_JOB_USER"}])
    """Your own scripts before each job, as root on its nodes. If one fails, the job goes back into the queue, and the
    node is drained until an administrator has looked at it."""

    epilog: Scripts = Field(default={}, examples=[{"scratch": "rm -rf /mnt/jail/scratch/$SLURM_JOB_USER"}])
    """Your own scripts after each job, as root on its nodes. If one fails, the node is drained."""

    stuck_after: Interval = Field(default=Interval(300), examples=["5m"])
    """How long a node may be without an answer though its pod runs, until the pod is replaced. 0 for never."""

    replace_lost: Switch = Field(default=False, examples=[True])
    """Replace pods on machines that Kubernetes has lost, once Slurm has given their jobs back to the queue. Only for
    where a machine that is lost is surely off: otherwise what ran there may still be running."""

    reboot: Reboot | None = Field(default=None, examples=[{"annotation": "slipway/reboot-requested"}])
    """Ask the platform for reboots; without it `scontrol reboot` is refused. The caretaker may then change nodes."""

    @property
    def scripts(self) -> dict[str, dict[str, str]]:
        """All scripts of the user's own, by the key that they stand under."""
        return {"checks": self.checks, "prolog": self.prolog, "epilog": self.epilog}
