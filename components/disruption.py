"""PodDisruptionBudgets: how many pods whoever empties a Kubernetes node may take away at a time."""

import pulumi
from pulumi_kubernetes.policy.v1 import PodDisruptionBudget

from components.options import child
from components.pods import labels as labels_of
from config import Settings


def one_at_a_time(
    name: str, component: str, settings: Settings, namespace: pulumi.Input[str], pods: int, parent: pulumi.Resource
) -> None:
    """For pods that stand in for each other. A single one has nobody: a budget would only keep its node from being
    emptied."""
    if pods < 2:
        return
    PodDisruptionBudget(
        f"{name}-{component}",
        metadata={"name": component, "namespace": namespace},
        spec={"max_unavailable": 1, "selector": {"match_labels": labels_of(settings, component)}},
        opts=child(parent),
    )
