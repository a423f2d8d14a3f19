"""`slurm`: how Slurm itself behaves, and any key of slurm.conf that has no setting of its own."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from config.mail import Mail
from config.section import Section
from config.slurm_keys import CLUSTER_KEYS, MPI_KEYS
from config.types import Choice, Integer, Script, SlurmName, SlurmValue, String, Switch

Cgroup = Annotated[Literal["auto", "v2", "disabled"], Choice()]
ClusterKey = Annotated[String, AfterValidator(CLUSTER_KEYS.check)]
MpiKey = Annotated[String, AfterValidator(MPI_KEYS.check)]
MpiType = Annotated[Literal["none", "pmi2", "pmix"], Choice()]
TopologyPlugin = Annotated[Literal["none", "tree", "block"], Choice()]


class SwitchAbove(Section):
    """A switch that other switches hang on."""

    switches: list[SlurmName] = Field(default=[], examples=[["rack1", "rack2"]])
    """The switches below it: leaves that NodeSets name, or other switches. None are needed below a switch that a
    NodeSet names in `topology.below`."""


class Topology(Section):
    """The network between the nodes, so that jobs get nodes that are near each other."""

    plugin: TopologyPlugin = Field(default="none", examples=["tree"])
    """`tree` for switches above switches, `block` for groups of nodes with a fast network inside, or `none`."""

    switches: dict[SlurmName, SwitchAbove] = Field(default={}, examples=[{"spine": {"switches": ["rack1", "rack2"]}}])
    """With `tree`: the switches above the leaves. The leaves are named by the NodeSets' `topology.switch`."""

    blocks: list[SlurmName] = Field(default=[], examples=[["block1", "block2"]])
    """With `block`: the blocks that the `topology.nodeLabel` of NodeSets may name. Slurm takes no block that it was not
    told of: a node with another label value is not used."""

    block_sizes: list[Annotated[Integer, Field(ge=1)]] = Field(default=[], examples=[[18, 36]])
    """With `block`: how many nodes are planned together, the smallest number first and each of the others a power of
    two times the first. If left out, the size of the smallest block; needed where a node label names the blocks."""


class Mpi(Section):
    """How the tasks of an MPI program find each other when `srun` starts them."""

    default: MpiType = Field(default="none", examples=["pmi2"])
    """What `srun` offers to programs unless they ask for another with `--mpi`: `pmi2`, `pmix`, or `none` for programs
    that bring their own start-up, such as `mpirun`. `pmix` needs Slurm's plugin for it in the images of workers and
    logins; ours, from Debian's packages, do not have it, and every `srun` would end with an error."""

    pmix: Annotated[dict[MpiKey, SlurmValue], BeforeValidator(MPI_KEYS.once)] = Field(
        default={}, examples=[{"PMIxTimeout": 600}], json_schema_extra=MPI_KEYS.json_schema
    )
    """Keys of mpi.conf, which are all about PMIx. Without its plugin they have no effect."""


class Slurm(Section):
    """How Slurm itself behaves."""

    cgroup: Cgroup = Field(default="auto", examples=["auto"])
    """How jobs are kept within what they asked for: `v2` by cgroup v2, `disabled` not at all. `auto` is `v2`, which
    Kubernetes nodes have today; only in the lab it is what its machine has. Nodes without it need `disabled`."""

    topology: Topology = Field(default=Topology(), examples=[{"plugin": "tree"}])
    """The network between the nodes."""

    mpi: Mpi = Field(default=Mpi(), examples=[{"default": "pmi2"}])
    """How the tasks of an MPI program find each other."""

    private_tmp: Switch = Field(default=False, examples=[True])
    """Give each job a `/tmp`, `/var/tmp` and `/dev/shm` of its own, which are removed when it ends. The first two are
    on the disk of the worker's pod, and count as its ephemeral storage. Without it all jobs on a node share its `/tmp`
    and `/dev/shm`, which other nodes and the logins do not see, and `/var/tmp` is that of the shared root, the same
    everywhere. What a job leaves in them stays: in the first two until the worker's pod ends."""

    job_submit_lua: Script | None = Field(
        default=None,
        examples=["function slurm_job_submit(job, parts, uid)\n  return slurm.SUCCESS\nend\n..."],
    )
    """A Lua script that slurmctld asks about every job that is submitted or changed (job_submit.lua): it may change the
    job, or refuse it. It must define `slurm_job_submit` and `slurm_job_modify`."""

    cli_filter_lua: Script | None = Field(
        default=None,
        examples=["function slurm_cli_setup_defaults(options, early)\n  return slurm.SUCCESS\nend\n..."],
    )
    """A Lua script that sbatch, salloc and srun run before they ask for anything (cli_filter.lua). It must define
    `slurm_cli_setup_defaults`, `slurm_cli_pre_submit` and `slurm_cli_post_submit`. It helps users, and holds nobody
    back: what must hold is for `jobSubmitLua`."""

    mail: Mail | None = Field(
        default=None, examples=[{"smtp": {"host": "mail.example.com", "sender": "slurm@example.com"}}]
    )
    """How Slurm sends the mail that users ask for with `--mail-type`; none is sent if left out."""

    extra: Annotated[dict[ClusterKey, SlurmValue], BeforeValidator(CLUSTER_KEYS.once)] = Field(
        default={},
        examples=[{"SchedulerParameters": ["bf_continue", "bf_window=2880"]}],
        json_schema_extra=CLUSTER_KEYS.json_schema,
    )
    """Any other key of slurm.conf, by Slurm's name for it. Lists are joined by commas, true and false become yes and
    no. Keys that follow from other settings are refused."""
