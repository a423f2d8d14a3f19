"""Doors that network policies would shut without anyone meaning it."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import Settings


def metrics_are_within_reach(settings: Settings) -> Iterator[Finding]:
    """Metrics that nobody may ask for, and alerts that never come."""
    network = settings.network
    if network.policies and settings.monitoring.enabled and not network.metrics_from:
        message = "network.policies would keep Prometheus away from the metrics; name its namespace"
        yield Finding(("network", "metricsFrom"), message, (("network", "policies"), ("monitoring", "enabled")))


def the_ingress_is_let_through(settings: Settings) -> Iterator[Finding]:
    """An Ingress whose controller does not reach what it stands for."""
    network, rest = settings.network, settings.rest
    if network.policies and rest.enabled and rest.ingress and not (rest.service.outside or network.rest_from):
        message = "network.policies would keep the Ingress controller away from slurmrestd; name its namespace"
        yield Finding(("network", "restFrom"), message, (("network", "policies"), ("rest", "ingress")))
