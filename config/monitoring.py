"""`monitoring`: Slurm's own numbers, in a form that Prometheus reads; alerts and dashboards that go with them."""

from typing import Annotated, Literal

from pydantic import Field

from config.section import Section
from config.types import Choice, Integer, Interval, Switch, WebAddress

Wanted = Annotated[Literal["auto", "on", "off"], Choice()]


class Alerts(Section):
    """When somebody is told."""

    jail_percent: Annotated[Integer, Field(ge=1, le=99)] = Field(default=90, examples=[95])
    """The shared root is nearly full when this much of it is taken."""

    queue_stuck: Interval = Field(default=Interval(30 * 60), examples=["2h"])
    """The queue of a partition is stuck when jobs wait, nodes are idle, and nothing has started for this long."""

    runbooks: WebAddress | None = Field(default=None, examples=["https://wiki.example.com/slipway/runbooks"])
    """Where the pages of `docs/runbooks` are served, for the links in alerts. If left out: their paths here."""


class Monitoring(Section):
    """Slurm's own numbers, in a form that Prometheus reads."""

    enabled: Switch = Field(default=False, examples=[True])
    """Serve /metrics beside slurmctld: jobs, nodes, partitions, users, the scheduler, and the state of the cluster."""

    interval: Interval = Field(default=Interval(30), examples=["30s"])
    """How often Prometheus asks, where a PodMonitor tells it to."""

    pod_monitor: Wanted = Field(default="auto", examples=["on"])
    """A PodMonitor, which tells the Prometheus Operator what to scrape. `auto`: where the cluster has that kind."""

    rules: Wanted = Field(default="auto", examples=["off"])
    """A PrometheusRule with the alerts. `auto`: where the cluster has that kind."""

    alerts: Alerts = Field(default=Alerts(), examples=[{"jailPercent": 95, "queueStuck": "2h"}])
    """When somebody is told."""
