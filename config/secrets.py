"""`secrets`: keys that the cluster makes for itself, and when it makes new ones."""

from typing import Annotated

from pydantic import Field

from config.section import Section
from config.types import Integer

Number = Annotated[Integer, Field(ge=1)]


class Secrets(Section):
    """Keys are made once and kept. To have a new one, raise its number: the pods that read it restart."""

    munge: Number = Field(default=1, examples=[2])
    """The key of munge, with `cluster.auth: munge`. For a new one all nodes are drained, since daemons with different
    keys do not understand each other; commands fail until all pods have it."""

    slurm: Number = Field(default=1, examples=[2])
    """The key of Slurm's own authentication, with `cluster.auth: slurm`. A new one is as for munge."""

    jwt: Number = Field(default=1, examples=[2])
    """The key that signs tokens for the HTTP interface. Those that were signed with the last one end; no job does."""

    host_keys: Number = Field(default=1, examples=[2])
    """The host key of the login pods. Users' ssh warns them of a new one."""

    database: Number = Field(default=1, examples=[2])
    """The password of accounting's own database. Both restart for a new one; slurmctld keeps records until they are
    back."""

    bridge: Number = Field(default=1, examples=[2])
    """The certificate of the bridge's admission, and who signed it. It is good for ten years."""
