"""`monitoring`: Slurm's own numbers, in a form that Prometheus reads."""

from pydantic import Field

from config.section import Section
from config.types import Interval, Switch


class Monitoring(Section):
    """Slurm's own numbers, in a form that Prometheus reads."""

    enabled: Switch = Field(default=False, examples=[True])
    """Serve /metrics from slurmctld: jobs, nodes, partitions and the scheduler."""

    interval: Interval = Field(default=Interval(30), examples=["30s"])
    """How often Prometheus asks."""
