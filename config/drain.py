"""`drain`: how running jobs are waited for before their nodes go away."""

from typing import Annotated, Literal

from pydantic import Field

from config.section import Section
from config.types import Choice, Timeout

OnTimeout = Annotated[Literal["fail", "requeue", "cancel"], Choice()]


class Drain(Section):
    """How running jobs are waited for before their nodes go away or restart."""

    timeout: Timeout = Field(default=Timeout(600), examples=["10m", "4h"])
    """How long to wait for the jobs on nodes that will go away or restart."""

    on_timeout: OnTimeout = Field(default="fail", examples=["fail"])
    """What then: `fail` stops the update and leaves the jobs alone, `requeue` and `cancel` do that to the jobs."""
