"""Partitions whose limits can be kept and do not contradict each other."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.partitions import ALL, Partition
from config.settings import Settings
from config.types import Duration


def one_partition_is_the_default(settings: Settings) -> Iterator[Finding]:
    """Without a default `sbatch` fails for everyone who names no partition; with two, the last one wins."""
    about = (("partitions",), *(("partitions", name, "default") for name in settings.partitions))
    default = [name for name, each in settings.partitions.items() if each.default]
    if not settings.partitions:
        message = "there is no partition; declare one with default: true, or leave the key out"
        yield Finding(("partitions",), message, about)
    elif not default:
        first = next(iter(settings.partitions))
        message = f"no partition is the default; set default: true on one, such as partitions.{first}.default"
        yield Finding(("partitions",), message, about)
    for name in default[1:]:
        message = f"`{default[0]}` is the default already; only one partition can be"
        yield Finding(("partitions", name, "default"), message, about)


def times_are_in_order(settings: Settings) -> Iterator[Finding]:
    """A job that asks for nothing must not ask for too much."""
    for name, each in settings.partitions.items():
        path = ("partitions", name)
        if each.default_time and _longer(each.default_time, each.max_time):
            message = f"{each.default_time} is longer than maxTime ({each.max_time}); shorten it"
            yield Finding((*path, "defaultTime"), message, ((*path, "maxTime"),))
        for key, value in {"maxTime": each.max_time, "defaultTime": each.default_time}.items():
            if value and value.seconds == 0:
                yield Finding((*path, key), "is 0, so that no job could run; use UNLIMITED for no limit")


def _longer(one: Duration, other: Duration) -> bool:
    if other.seconds is None:
        return False
    return one.seconds is None or one.seconds > other.seconds


def node_limits_can_be_met(settings: Settings) -> Iterator[Finding]:
    """Jobs that can never start wait for ever."""
    for name, each in settings.partitions.items():
        path = ("partitions", name)
        if each.max_nodes == 0:
            yield Finding((*path, "maxNodes"), "is 0, so that no job could run; leave it out for no limit")
        elif each.max_nodes is not None and each.min_nodes > each.max_nodes:
            message = f"{each.min_nodes} is more than maxNodes ({each.max_nodes}); lower it"
            yield Finding((*path, "minNodes"), message, ((*path, "maxNodes"),))
            continue
        members = list(settings.all_node_sets) if ALL in each.node_sets else each.node_sets
        known = [node_set for node_set in members if node_set in settings.all_node_sets]
        has = sum(settings.all_node_sets[node_set].capacity for node_set in known)
        if known == members and each.min_nodes > max(has, 1):
            sizes = tuple((*settings.path_of(node_set), "size") for node_set in members)
            message = f"{each.min_nodes} is more than the partition has nodes ({has}); lower it"
            yield Finding((*path, "minNodes"), message, ((*path, "nodeSets"), *sizes))


def memory_limits_agree(settings: Settings) -> Iterator[Finding]:
    """Slurm takes one kind of default and one kind of limit, and silently forgets the others."""
    for name, each in settings.partitions.items():
        path = ("partitions", name)
        defaults = {
            "defMemPerCpu": each.def_mem_per_cpu,
            "defMemPerNode": each.def_mem_per_node,
            "defMemPerGpu": each.def_mem_per_gpu,
        }
        limits = {"maxMemPerCpu": each.max_mem_per_cpu, "maxMemPerNode": each.max_mem_per_node}
        for kind in (defaults, limits):
            first, *others = [key for key, value in kind.items() if value is not None] or [""]
            for key in others:
                yield Finding((*path, key), f"cannot be combined with {first}; keep one of them", ((*path, first),))
        for per in ("PerCpu", "PerNode"):
            default, limit = defaults[f"defMem{per}"], limits[f"maxMem{per}"]
            if default is not None and limit is not None and default > limit:
                message = f"{default} is more than maxMem{per} ({limit}); lower it"
                yield Finding((*path, f"defMem{per}"), message, ((*path, f"maxMem{per}"),))


def billing_counts_what_there_is(settings: Settings) -> Iterator[Finding]:
    """slurmctld does not start with a weight for a generic resource that it does not count."""
    sets = settings.all_node_sets.values()
    kinds = {"gpu" for each in sets if each.gpus} | {kind for each in sets for kind in each.gres}
    for name, each in settings.partitions.items():
        for key in each.tres_billing_weights:
            path = ("partitions", name, "tresBillingWeights", key)
            family, _, kind = key.partition("/")
            if family.lower() != "gres":
                continue
            if not settings.accounting.enabled:
                yield Finding(path, "needs accounting; set accounting.enabled: true", (("accounting", "enabled"),))
            elif kind.split(":")[0] not in kinds:
                yield Finding(path, f"no NodeSet has {kind.split(':')[0]}; take it away, or give it to one")


def sharing_makes_sense(settings: Settings) -> Iterator[Finding]:
    """A node that is kept for one job is not shared."""
    for name, each in settings.partitions.items():
        path = ("partitions", name)
        if each.exclusive in ("NODE", "TOPO") and each.over_subscribe != "NO":
            message = f"{each.over_subscribe} contradicts exclusive: {each.exclusive}; keep one of them"
            yield Finding((*path, "overSubscribe"), message, ((*path, "exclusive"),))
        if each.exclusive == "TOPO" and settings.slurm.topology.plugin == "none":
            message = "TOPO keeps whole switches or blocks, and there are none; set slurm.topology.plugin"
            yield Finding((*path, "exclusive"), message, (("slurm", "topology", "plugin"),))


def access_lists_do_not_contradict(settings: Settings) -> Iterator[Finding]:
    """With a list of those allowed Slurm never looks at the list of those denied."""
    for name, each in settings.partitions.items():
        for allowed, denied, both in _pairs(each):
            if both:
                message = f"is never looked at beside {allowed}; take one of them away"
                yield Finding(("partitions", name, denied), message, (("partitions", name, allowed),))


def _pairs(partition: Partition) -> tuple[tuple[str, str, bool], ...]:
    return (
        ("allowAccounts", "denyAccounts", bool(partition.allow_accounts and partition.deny_accounts)),
        ("allowQos", "denyQos", bool(partition.allow_qos and partition.deny_qos)),
    )
