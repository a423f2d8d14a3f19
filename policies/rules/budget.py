"""How much one stack may take: Slurm nodes, their CPUs and their GPUs."""

from collections.abc import Iterator
from decimal import Decimal

from policies.quantities import amount
from policies.reading import CLUSTER, WORKER, Cluster, Pod, Resource, Stack, plain, pod_of
from policies.rule import Rule, Settings

CAPS = {"nodes": 256, "cpus": 16384, "gpus": 256}


def check(resource: Resource, stack: Stack, settings: Settings) -> Iterator[str]:
    if resource.type == CLUSTER:
        yield from _within_caps(Cluster(resource.name, plain(resource.props)), settings)
        return
    pod = pod_of(resource)
    cluster = stack.cluster_of(resource)
    if pod is not None and cluster is not None and pod.role == WORKER:
        yield from _as_counted(pod, cluster)


def _within_caps(cluster: Cluster, settings: Settings) -> Iterator[str]:
    sets = cluster.node_sets.values()
    totals = {
        "nodes": sum(each["size"] for each in sets),
        "cpus": sum(each["size"] * each["cpus"] for each in sets),
        "gpus": sum(each["size"] * each.get("gpus", 0) for each in sets),
    }
    for what, total in totals.items():
        if total > settings[what]:
            shares = ", ".join(f"{name} {each['size']}" for name, each in cluster.node_sets.items())
            yield (
                f"All NodeSets together have {total} {what}, and this stack may have {settings[what]:.0f} (NodeSets by "
                f"size: {shares}). Lower `size`, or raise the cap in the policy config (budget.{what})."
            )


def _as_counted(pod: Pod, cluster: Cluster) -> Iterator[str]:
    """What is deployed is what was counted."""
    declared = cluster.node_sets.get(pod.node_set)
    if declared is None:
        yield f"{pod} runs workers of the NodeSet `{pod.node_set}`, which the stack does not declare and nobody counts."
        return
    replicas = pod.workload.props["spec"].get("replicas", 1)
    if replicas > declared["size"]:  # fewer may run of a NodeSet that Slurm scales
        yield f"{pod} has {replicas:.0f} replicas, and the stack declares {declared['size']:.0f}. Set `size` instead."
    gpu = declared.get("gpuResource", "")
    asked = {"cpus": Decimal(0), "gpus": Decimal(0)}
    for container in pod.spec.get("containers") or ():
        limits = (container.get("resources") or {}).get("limits") or {}
        asked["cpus"] += amount(limits.get("cpu", 0)) or 0
        asked["gpus"] += sum(amount(limits[each]) or 0 for each in limits if each == gpu or each.endswith("/gpu"))
    for what, number in asked.items():
        if number != declared.get(what, 0):
            said = f"the stack declares {declared.get(what, 0):.0f}"
            yield f"{pod} may use {number} {what} in each pod, and {said}. Set `{what}` of the NodeSet instead."


RULES = [
    Rule(
        name="budget",
        about="The NodeSets of a stack stay within its caps on nodes, CPUs and GPUs.",
        check=check,
        page="budget.md",
        settings={
            what: {
                "type": "integer",
                "description": f"The most {words} that all NodeSets of a stack may have together.",
                "minimum": 0,
                "default": CAPS[what],
                "examples": [64],
            }
            for what, words in (("nodes", "Slurm nodes"), ("cpus", "CPUs"), ("gpus", "GPUs"))
        },
    )
]
