"""Metrics that are really there, and alerts that can fire."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import Settings

SHORTEST, LONGEST = 5, 120
SHORTEST_QUEUE = 300


def metrics_are_not_private(settings: Settings) -> Iterator[Finding]:
    """With PrivateData slurmctld serves no metrics, and says nothing about it."""
    if settings.monitoring.enabled and "PrivateData" in settings.slurm.extra:
        message = "slurmctld serves no metrics with it; take it away, or set monitoring.enabled: false"
        yield Finding(("slurm", "extra", "PrivateData"), message, (("monitoring", "enabled"),))


def metrics_are_asked_for_in_time(settings: Settings) -> Iterator[Finding]:
    """Prometheus takes a number that is five minutes old for gone, and every look costs slurmctld a little."""
    seconds = settings.monitoring.interval.seconds or 0
    if not SHORTEST <= seconds <= LONGEST:
        message = f"alerts need an answer every {SHORTEST}s to {LONGEST // 60}m; choose a time in between"
        yield Finding(("monitoring", "interval"), message)


def queues_have_time_to_move(settings: Settings) -> Iterator[Finding]:
    """Backfill takes its time: what has not started for a minute is not stuck."""
    if (settings.monitoring.alerts.queue_stuck.seconds or 0) < SHORTEST_QUEUE:
        message = "a queue that has not moved for less than 5m is not stuck; make it 5m or more"
        yield Finding(("monitoring", "alerts", "queueStuck"), message)


def what_watches_has_something_to_watch(settings: Settings) -> Iterator[Finding]:
    """Objects for a Prometheus that there is nothing to ask for."""
    for key, value in (("podMonitor", settings.monitoring.pod_monitor), ("rules", settings.monitoring.rules)):
        if value == "on" and not settings.monitoring.enabled:
            message = "there are no metrics without monitoring.enabled; set it to true, or take this away"
            yield Finding(("monitoring", key), message, (("monitoring", "enabled"),))
