"""Partitions as slurm.conf knows them, over the nodes of any NodeSets."""

from config import Settings
from config.bridge import EXTERNAL
from config.partitions import ALL, Partition
from slurm.nodes import Fields, names


def dynamic_sets(settings: Settings) -> list[str]:
    """Dynamic NodeSets become Slurm NodeSets: their nodes are known by a feature, as they come and go."""
    return [name for name, each in settings.all_node_sets.items() if each.kind == "dynamic"]


def members(settings: Settings, partition: Partition) -> str:
    """The Nodes= of a partition: hostlists of static NodeSets, names of dynamic ones. ALL is Slurm's own word for every
    node that it knows or will know, and all of them are of some NodeSet: written out, it would be the longest line of
    the file, as often as there are partitions."""
    sets, chosen = settings.all_node_sets, partition.node_sets
    if ALL in chosen:
        if settings.bridge.external is None:
            return ALL if any(each.kind == "dynamic" or each.size for each in sets.values()) else ""
        # Nodes of the bridge run no slurmd: they are only where they are named.
        chosen = list(sets)
    nodes = [_nodes(settings, name) for name in chosen]
    return ",".join(each for each in nodes if each)


def _nodes(settings: Settings, name: str) -> str:
    if name == EXTERNAL:
        return EXTERNAL if settings.bridge.external else ""
    node_set = settings.all_node_sets[name]
    return name if node_set.kind == "dynamic" else names(name, node_set.size)


def partition_line(settings: Settings, name: str, partition: Partition) -> Fields:
    """What differs from Slurm's own default, and State and MaxTime, which people look for."""
    nodes = members(settings, partition)
    line = {"PartitionName": name, **({"Nodes": nodes} if nodes else {})}
    line |= {"Default": "YES"} if partition.default else {}
    line |= {"State": partition.state, "MaxTime": str(partition.max_time)}
    line |= _limits(partition)
    line |= _access(partition)
    return line | partition.extra


def _limits(partition: Partition) -> Fields:
    numbers = {
        "DefaultTime": partition.default_time,
        "PriorityTier": _unless(partition.priority_tier, 1),
        "PriorityJobFactor": _unless(partition.priority_job_factor, 1),
        "MinNodes": _unless(partition.min_nodes, 0),
        "MaxNodes": partition.max_nodes,
        "MaxCPUsPerNode": partition.max_cpus_per_node,
        "DefMemPerCPU": partition.def_mem_per_cpu and partition.def_mem_per_cpu.mib,
        "DefMemPerNode": partition.def_mem_per_node and partition.def_mem_per_node.mib,
        "DefMemPerGPU": partition.def_mem_per_gpu and partition.def_mem_per_gpu.mib,
        "DefCpuPerGPU": partition.def_cpu_per_gpu,
        "MaxMemPerCPU": partition.max_mem_per_cpu and partition.max_mem_per_cpu.mib,
        "MaxMemPerNode": partition.max_mem_per_node and partition.max_mem_per_node.mib,
        "OverSubscribe": _unless(partition.over_subscribe, "NO"),
        "Exclusive": _unless(partition.exclusive, "NO"),
        "PreemptMode": partition.preempt_mode,
        "GraceTime": partition.grace_time and partition.grace_time.seconds,
    }
    made = {key: str(value) for key, value in numbers.items() if value is not None}
    if partition.tres_billing_weights:
        made["TRESBillingWeights"] = ",".join(
            f"{tres}={weight}" for tres, weight in partition.tres_billing_weights.items()
        )
    return made


def _access(partition: Partition) -> Fields:
    lists = {
        "AllowGroups": partition.allow_groups,
        "AllowAccounts": partition.allow_accounts,
        "DenyAccounts": partition.deny_accounts,
        "AllowQos": partition.allow_qos,
        "DenyQos": partition.deny_qos,
    }
    made = {key: ",".join(values) for key, values in lists.items() if values}
    made |= {"QOS": partition.qos} if partition.qos else {}
    made |= {"Hidden": "YES"} if partition.hidden else {}
    return made | ({"RootOnly": "YES"} if partition.root_only else {})


def _unless(value: object, default: object) -> object:
    return None if value == default else value
