"""A bridge that finds Slurm, has nodes of its own to give, and keeps its hands off everything else."""

from collections.abc import Iterator

from config.bridge import EXTERNAL
from config.checks.finding import Finding
from config.checks.services import LONGEST_TOKEN, SHORTEST_TOKEN
from config.partitions import ALL
from config.settings import Settings

# What Kubernetes itself lives on.
KUBERNETES = ("kube-system", "kube-public", "kube-node-lease")
PLUGIN = "mcs/label"


def it_has_rest(settings: Settings) -> Iterator[Finding]:
    """The bridge talks to Slurm through its HTTP interface."""
    if settings.bridge.enabled and not settings.rest.enabled:
        message = "the bridge talks to Slurm through slurmrestd; set rest.enabled: true too"
        yield Finding(("bridge", "enabled"), message, (("rest", "enabled"),))


def it_is_told_which_namespaces(settings: Settings) -> Iterator[Finding]:
    """The bridge ignores the list if there is a selector, without a word."""
    bridge = settings.bridge
    about = (("bridge", "managedNamespaces"), ("bridge", "managedNamespaceSelector"))
    if bridge.managed_namespaces and bridge.managed_namespace_selector:
        message = "cannot be combined with managedNamespaces; keep one of them"
        yield Finding(("bridge", "managedNamespaceSelector"), message, about)
    elif bridge.enabled and not (bridge.managed_namespaces or bridge.managed_namespace_selector):
        message = "no namespace is managed, so that no pod would go through Slurm; name some, or a selector for them"
        yield Finding(("bridge", "managedNamespaces"), message, about)


def it_leaves_the_cluster_alone(settings: Settings) -> Iterator[Finding]:
    """A pod that Slurm needs to run cannot wait for Slurm."""
    cluster, own = settings.cluster.namespace, settings.bridge_namespace
    about = (("cluster", "namespace"), ("bridge", "namespace"))
    for index, namespace in enumerate(settings.bridge.managed_namespaces):
        path = ("bridge", "managedNamespaces", index)
        if namespace in (cluster, own, *KUBERNETES):
            message = f"the pods of `{namespace}` must run before Slurm does; take it away"
            yield Finding(path, message, about)
        elif namespace in settings.bridge.managed_namespaces[:index]:
            yield Finding(path, f"`{namespace}` is listed twice; keep it once")
    if own in (cluster, "default", *KUBERNETES):
        message = f"`{own}` is not the bridge's alone; choose another name, or leave it out for {cluster}-bridge"
        yield Finding(("bridge", "namespace"), message, about)


def it_has_nodes(settings: Settings) -> Iterator[Finding]:
    """Without nodes every pod would wait for ever."""
    bridge = settings.bridge
    if bridge.enabled and not (bridge.node_sets or bridge.external_nodes):
        message = "no nodes are lent, so that every pod would wait for ever; set nodeSets, externalNodes or both"
        yield Finding(("bridge", "nodeSets"), message, (("bridge", "externalNodes"),))


def lent_node_sets_can_be_shared(settings: Settings) -> Iterator[Finding]:
    """A machine goes back and forth between Slurm's jobs and pods, and its worker pod stays where it is."""
    for index, name in enumerate(settings.bridge.node_sets):
        path, each = ("bridge", "nodeSets", index), settings.all_node_sets.get(name)
        about = ((*settings.path_of(name), "gpus"), (*settings.path_of(name), "autoscale"))
        if each is None:
            known = ", ".join(settings.all_node_sets)
            yield Finding(path, f"no NodeSet is named `{name}`; there are {known}", (("nodeSets",),))
        elif name in settings.bridge.node_sets[:index]:
            yield Finding(path, f"`{name}` is listed twice; keep it once")
        elif each.gpus:
            message = (
                f"the worker pods of `{name}` hold its GPUs, which Kubernetes gives to one pod only; lend such "
                "machines as externalNodes"
            )
            yield Finding(path, message, about)
        elif each.autoscale:
            message = f"`{name}` has autoscale, and a machine whose worker pod is stopped cannot be lent; take one away"
            yield Finding(path, message, about)


def its_partition_is_lent(settings: Settings) -> Iterator[Finding]:
    """A job of the bridge on any other node would stand for a pod that can run nowhere."""
    bridge = settings.bridge
    partition = settings.partitions.get(settings.bridge_partition or "")
    if not bridge.enabled or partition is None or not (bridge.node_sets or bridge.external_nodes):
        return
    path = ("bridge", "partition")
    about = (("bridge",), ("partitions",), ("nodeSets",))
    name = settings.bridge_partition
    sets = settings.all_node_sets
    running = [each for each in sets if sets[each].size and (each in partition.node_sets or ALL in partition.node_sets)]
    if other := [each for each in running if each not in bridge.node_sets]:
        message = (
            f"the partition `{name}` has nodes of {', '.join(other)}, which are not lent; name a partition whose nodes "
            "all are, or add them to bridge.nodeSets"
        )
        yield Finding(path, message, about)
    elif bridge.external_nodes and EXTERNAL not in partition.node_sets:
        message = f"externalNodes join the partition `{name}`; add `{EXTERNAL}` to partitions.{name}.nodeSets"
        yield Finding(path, message, about)


def external_nodes_are_told_from_others(settings: Settings) -> Iterator[Finding]:
    """The bridge gives its nodes the partition's name as a feature, by which Slurm finds them."""
    name = settings.bridge_partition
    if settings.bridge.external is None or name is None:
        return
    features = {each: [each, *node_set.features] for each, node_set in settings.all_node_sets.items()}
    for each, found in features.items():
        if name in found:
            message = (
                f"`{name}` is a feature of the NodeSet `{each}` too, so that Slurm could not tell its nodes from those "
                "of the bridge; give the partition another name"
            )
            yield Finding(("bridge", "partition"), message, (("partitions",), settings.path_of(each)))


def labels_keep_jobs_apart(settings: Settings) -> Iterator[Finding]:
    """Jobs of the bridge carry a label that only this plugin heeds."""
    plugin = settings.slurm.extra.get("MCSPlugin")
    if settings.bridge.enabled and plugin is not None and plugin.lower() != PLUGIN:
        message = f"bridge.mcsLabel needs {PLUGIN}; take this away, or set it to that"
        yield Finding(("slurm", "extra", "MCSPlugin"), message, (("bridge", "mcsLabel"), ("bridge", "enabled")))


def its_token_ends_in_time(settings: Settings) -> Iterator[Finding]:
    """The bridge acts for SlurmUser, so that whoever gets hold of its token has the cluster until it ends."""
    lifespan = settings.bridge.token_lifespan
    if not SHORTEST_TOKEN <= (lifespan.seconds or 0) <= LONGEST_TOKEN:
        message = f"{lifespan} is not between a minute and a year; 30d is what it is if left out"
        yield Finding(("bridge", "tokenLifespan"), message)
