"""Names that Slurm, Kubernetes or DNS would refuse, or mix up with others."""

import re
from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import WORKER, Settings

# Workloads and Services of our own in the same namespace.
TAKEN = (
    "accounting",
    "apply-users",
    "bridge",
    "bridge-steward",
    "checks",
    "controller",
    "controller-standby",
    "database",
    "login",
    "login-pods",
    "monitoring",
    "populate-jail",
    "rest",
)

# More digits overflow the parser of Slurm's hostlists.
MOST_DIGITS = 18

LONGEST_DNS_NAME = 253


def node_set_names_are_free(settings: Settings) -> Iterator[Finding]:
    """A NodeSet is a StatefulSet and a Service by its name."""
    for name in settings.node_sets:
        path = ("nodeSets", name)
        if name == WORKER:
            yield Finding(path, "the NodeSet `worker` has a key of its own; move this to `worker`")
        elif name in TAKEN:
            yield Finding(path, f"`{name}` is the name of another part of the cluster; choose another one")


def node_set_names_are_unambiguous(settings: Settings) -> Iterator[Finding]:
    """`gpu-1` could be a NodeSet, or node 1 of the NodeSet `gpu`: Slurm takes both in the same places."""
    for name in settings.node_sets:
        if re.search(r"-[0-9]+$", name):
            better = re.sub(r"-([0-9]+)$", r"\1", name)
            yield Finding(
                ("nodeSets", name),
                f"ends like the number of a node: `{name}` reads as one node of a NodeSet; use `{better}`",
            )
        elif max((len(run) for run in re.findall(r"[0-9]+", name)), default=0) > MOST_DIGITS:
            yield Finding(("nodeSets", name), f"has more than {MOST_DIGITS} digits in a row, which Slurm cannot read")


def node_names_fit_in_dns(settings: Settings) -> Iterator[Finding]:
    """Nodes are found by their full DNS name."""
    cluster = settings.cluster
    for name, node_set in settings.all_node_sets.items():
        last = f"{name}-{max(node_set.capacity - 1, 0)}.{name}.{cluster.namespace}.svc.{cluster.domain}"
        if len(last) > LONGEST_DNS_NAME:
            yield Finding(
                settings.path_of(name),
                f"its nodes get names of {len(last)} characters, and DNS allows {LONGEST_DNS_NAME}; "
                "shorten the name, cluster.namespace or cluster.domain",
            )


def features_are_no_node_sets(settings: Settings) -> Iterator[Finding]:
    """Each node has the name of its NodeSet as a feature, and Slurm finds the nodes of a NodeSet by that."""
    for name, node_set in settings.all_node_sets.items():
        path = (*settings.path_of(name), "features")
        for index, feature in enumerate(node_set.features):
            if feature in settings.all_node_sets and feature != name:
                yield Finding(
                    (*path, index), f"`{feature}` is the name of a NodeSet, and would make these nodes part of it"
                )
            elif feature in node_set.features[:index]:
                yield Finding((*path, index), f"`{feature}` is listed twice; keep it once")
