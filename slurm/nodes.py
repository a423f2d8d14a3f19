"""NodeSets as slurm.conf and gres.conf know them: one line for all nodes of a set, however many there are."""

from config import Settings
from config.node_sets import NodeSet
from slurm.places import pod

Fields = dict[str, str]

TOPOLOGY = "default"  # what Slurm calls the topology of topology.conf


def ordinals(size: int, first: int = 0) -> str:
    """`0`, or `[0-3]`, for names that are numbered, from 0 if nothing else is said."""
    return str(first) if size == first + 1 else f"[{first}-{size - 1}]"


def names(name: str, size: int) -> str:
    """The hostlist of a NodeSet's nodes."""
    return f"{name}-{ordinals(size)}" if size else ""


def node_lines(settings: Settings, name: str, node_set: NodeSet) -> list[Fields]:
    """The NodeName lines of a static NodeSet: of the nodes that always run, and of those that Slurm starts when there
    is work for them. None for nodes that name themselves."""
    if node_set.kind == "dynamic":
        return []
    lines = []
    if node_set.always:
        lines.append(_node_line(settings, name, node_set, ordinals(node_set.always)))
    if node_set.autoscale and node_set.size > node_set.always:
        power = {"State": "CLOUD", "SuspendTime": str(node_set.autoscale.idle.seconds)}
        which = ordinals(node_set.size, node_set.always)
        lines.append(_node_line(settings, name, node_set, which) | power)
    return lines


def _node_line(settings: Settings, name: str, node_set: NodeSet, which: str) -> Fields:
    hosts = f"{name}-{which}"
    return {
        "NodeName": hosts,
        "NodeHostname": hosts,
        "NodeAddr": pod(settings, name, which),
        **hardware(name, node_set),
    }


def power_times(settings: Settings) -> tuple[int, int] | None:
    """Seconds until a node that Slurm starts must serve, and until one that it stops is gone; None without such."""
    scaled = [(each.autoscale, each.grace_period) for each in settings.all_node_sets.values() if each.autoscale]
    if not scaled:
        return None
    starts, ends = zip(
        *((scale.start_timeout.seconds or 0, grace.seconds or 0) for scale, grace in scaled), strict=True
    )
    return max(starts), max(ends)


def own_limits(settings: Settings) -> list[str]:
    """Limits that some nodes state, in Slurm's words; none where the user says what jobs take along."""
    if "PropagateResourceLimits" in settings.slurm.extra:
        return []
    return sorted({name.upper() for each in settings.all_node_sets.values() for name in each.limits.stated})


def resume_timeout(settings: Settings) -> int | None:
    """Seconds until a node that Slurm starts, or has rebooted, must serve. Slurm has one number for both."""
    times = power_times(settings)
    reboot = settings.health.reboot if settings.health.enabled else None
    found = [*(times[:1] if times else ()), *([reboot.timeout.seconds or 0] if reboot else ())]
    return max(found, default=None)


def dynamic_line(name: str, node_set: NodeSet) -> Fields | None:
    """What the nodes of a dynamic NodeSet say when they start; None where there are none."""
    if node_set.kind == "static" or not node_set.size:
        return None
    return {"NodeName": names(name, node_set.size), **hardware(name, node_set)}


def hardware(name: str, node_set: NodeSet) -> Fields:
    """What each node has: for a static node's line, and for `slurmd -Z --conf` of a dynamic one."""
    fields = {"CPUs": str(node_set.cpus)}
    shape = {
        "Sockets": node_set.sockets,
        "CoresPerSocket": node_set.cores_per_socket,
        "ThreadsPerCore": node_set.threads_per_core,
    }
    fields |= {key: str(value) for key, value in shape.items() if value is not None}
    fields["RealMemory"] = str(node_set.real_memory_mib)
    if gres := generic_resources(node_set):
        fields["Gres"] = ",".join(gres)
    fields["Feature"] = ",".join(dict.fromkeys([name, *node_set.features]))
    if node_set.weight != 1:
        fields["Weight"] = str(node_set.weight)
    place = node_set.topology and (node_set.topology.switch or node_set.topology.block)
    if place and node_set.kind == "dynamic":  # static ones stand in topology.conf
        fields["Topology"] = f"{TOPOLOGY}:{place}"
    return fields | node_set.extra


def generic_resources(node_set: NodeSet) -> list[str]:
    """`gpu:h100:8` and the like, GPUs first."""
    made = []
    if node_set.gpus:
        made.append(_gres("gpu", node_set.gpus.type, node_set.gpus.count))
    return made + [_gres(name, gres.type, gres.count, gres.no_consume) for name, gres in node_set.gres.items()]


def _gres(name: str, kind: str | None, count: int, no_consume: bool = False) -> str:
    return ":".join([name, *([kind] if kind else []), *(["no_consume"] if no_consume else []), str(count)])


def gres_types(settings: Settings) -> list[str]:
    """GresTypes: every kind of generic resource that any NodeSet has."""
    kinds = {"gpu" for each in settings.all_node_sets.values() if each.gpus}
    return sorted(kinds | {name for each in settings.all_node_sets.values() for name in each.gres})


def accounted(settings: Settings) -> list[str]:
    """AccountingStorageTRES: every generic resource, and each type of one that a partition bills on its own."""
    weights = {key for each in settings.partitions.values() for key in each.tres_billing_weights}
    typed = {f"gres/{key.partition('/')[2]}" for key in weights if key.lower().startswith("gres/") and ":" in key}
    return sorted({f"gres/{kind}" for kind in gres_types(settings)} | typed)


def gres_lines(settings: Settings) -> list[Fields]:
    """gres.conf. GPUs are found by slurmd itself: which device files a pod gets is the device plugin's choice."""
    lines = []
    for name, node_set in settings.all_node_sets.items():
        if not node_set.capacity:
            continue
        hosts = {"NodeName": names(name, node_set.capacity)}  # of dynamic ones, all that may ever come
        if node_set.gpus:
            kind = {"Type": node_set.gpus.type} if node_set.gpus.type else {}
            detect = "nvidia" if node_set.gpus.resource_name.startswith("nvidia.com/") else "off"
            count = {"Count": str(node_set.gpus.count)} if detect == "off" else {}
            lines.append({**hosts, "AutoDetect": detect, "Name": "gpu", **kind, **count})
        for gres_name, gres in node_set.gres.items():
            line = {**hosts, "Name": gres_name}
            line |= {"Type": gres.type} if gres.type else {}
            line |= {"File": gres.file} if gres.file else {"Count": str(gres.count)}
            line |= {"Flags": ",".join(gres.flags)} if gres.flags else {}
            lines.append(line)
    return lines


def memory_per_cpu(settings: Settings) -> int | None:
    """MiB for each CPU on the leanest node: jobs that ask for no memory then fill every node by its CPUs. None where
    `slurm.extra` counts by the node or by the GPU: Slurm takes only one of them."""
    if {"DefMemPerNode", "DefMemPerGPU"} & set(settings.slurm.extra):
        return None
    sets = settings.all_node_sets.values()
    some = [each for each in sets if each.capacity] or sets
    return max(1, min(_memory_for_jobs(each) // each.cpus for each in some))


def _memory_for_jobs(node_set: NodeSet) -> int:
    """What is left of a node's memory when slurmd has set its own share aside."""
    reserved = node_set.extra.get("MemSpecLimit", "")
    return node_set.real_memory_mib - (int(reserved) if reserved.isdecimal() else 0)
