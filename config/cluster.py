"""`cluster`: names that hold for everything in the stack."""

from typing import Annotated, Literal

from pydantic import Field

from config.section import Section
from config.types import Choice, ClusterName, DnsLabel, DnsName

Auth = Annotated[Literal["munge", "slurm"], Choice()]
Stage = Annotated[Literal["development", "staging", "production"], Choice()]


class Cluster(Section):
    """Names that hold for everything in the stack."""

    name: ClusterName = Field(default="dev", examples=["hpc"])
    """Slurm's ClusterName: accounting and saved state belong to it, so it cannot be changed later."""

    namespace: DnsLabel = Field(default="slurm", examples=["slurm"])
    """The Kubernetes namespace that everything runs in."""

    stage: Stage = Field(default="staging", examples=["production"])
    """How much depends on the cluster, for the policy pack: `production` asks for images by digest; `development` is
    let off with a warning where users' files would go with the stack, or anyone may reach the login pods."""

    auth: Auth = Field(default="munge", examples=["munge"])
    """How daemons and users prove who they are: `munge` runs munged beside each daemon, `slurm` needs only a key."""

    domain: DnsName = Field(default="cluster.local", examples=["cluster.local"])
    """The DNS domain of the Kubernetes cluster: nodes are reached at `<node>.<NodeSet>.<namespace>.svc.<domain>`."""
