"""NodeSets that Slurm can have: few enough nodes, and hardware that adds up."""

import re
from collections.abc import Iterator
from itertools import pairwise

from config.checks.finding import Finding
from config.node_sets import MOST_NODES, Gres
from config.paths import Path
from config.settings import Settings

_ON_GPUS = ("shard", "mps")


def nodes_can_be_counted(settings: Settings) -> Iterator[Finding]:
    """Slurm has room for 65,536 nodes."""
    total = sum(each.capacity for each in settings.all_node_sets.values())
    total += settings.bridge.external.max if settings.bridge.external else 0
    if total > MOST_NODES:
        largest = max(settings.all_node_sets, key=lambda name: settings.all_node_sets[name].capacity)
        path = (*settings.path_of(largest), "size")
        sizes = tuple((*settings.path_of(name), key) for name in settings.all_node_sets for key in ("size", "maxSize"))
        sizes += (("bridge", "externalNodes", "max"),)
        yield Finding(path, f"all NodeSets together have {total} nodes, and Slurm has room for {MOST_NODES}", sizes)


def dynamic_sizes_have_room(settings: Settings) -> Iterator[Finding]:
    """Slurm must know at its start how many dynamic nodes may ever come."""
    for name, each in settings.all_node_sets.items():
        path = settings.path_of(name)
        about = ((*path, "kind"), (*path, "size"))
        if each.max_size is not None and each.kind == "static":
            yield Finding((*path, "maxSize"), "has a meaning only with kind: dynamic; take it away", about)
        elif each.max_size is not None and each.max_size < each.size:
            yield Finding((*path, "maxSize"), f"{each.max_size} is less than size ({each.size}); raise it", about)


def autoscaling_has_room(settings: Settings) -> Iterator[Finding]:
    """Only nodes that stand in slurm.conf can be stopped and still be counted on; a dynamic one would be forgotten."""
    for name, each in settings.all_node_sets.items():
        if each.autoscale is None:
            continue
        path = settings.path_of(name)
        if each.kind == "dynamic":
            message = "is for kind: static, as Slurm forgets a dynamic node that stops; take one of them away"
            yield Finding((*path, "autoscale"), message, ((*path, "kind"),))
        if each.autoscale.min > each.size:
            message = f"{each.autoscale.min} is more than size ({each.size}), which is the most; lower it"
            yield Finding((*path, "autoscale", "min"), message, ((*path, "size"),))


def cpus_are_sockets_by_cores_by_threads(settings: Settings) -> Iterator[Finding]:
    """slurmctld takes a node out of service whose CPUs do not add up."""
    for name, each in settings.all_node_sets.items():
        parts = {
            "sockets": each.sockets,
            "coresPerSocket": each.cores_per_socket,
            "threadsPerCore": each.threads_per_core,
        }
        if not any(parts.values()):
            continue
        product = (each.sockets or 1) * (each.cores_per_socket or 1) * (each.threads_per_core or 1)
        if product != each.cpus:
            path = settings.path_of(name)
            said = " x ".join(f"{key} {value or 1}" for key, value in parts.items())
            also = tuple((*path, key) for key in parts)
            yield Finding((*path, "cpus"), f"{each.cpus} is not {said} (which is {product}); make them agree", also)


def memory_is_there(settings: Settings) -> Iterator[Finding]:
    """Jobs that may use more than the pod has are killed by the kernel, and not told why."""
    for name, each in settings.all_node_sets.items():
        path = settings.path_of(name)
        if each.real_memory is not None and each.real_memory > each.memory:
            message = f"{each.real_memory} is more than memory ({each.memory}), which is all that the pod gets"
            yield Finding((*path, "realMemory"), f"{message}; lower it", ((*path, "memory"),))
        if each.shared_memory is not None and each.shared_memory > each.memory:
            message = f"{each.shared_memory} is more than memory ({each.memory}), which it is a part of"
            yield Finding((*path, "sharedMemory"), f"{message}; lower it", ((*path, "memory"),))
        reserved = each.extra.get("MemSpecLimit", "")
        if reserved.isdecimal() and int(reserved) >= each.real_memory_mib:
            message = f"{reserved} MiB leave nothing of the node's {each.real_memory_mib} MiB for jobs; lower it"
            yield Finding((*path, "extra", "MemSpecLimit"), message, ((*path, "memory"), (*path, "realMemory")))


def generic_resources_make_sense(settings: Settings) -> Iterator[Finding]:
    """GPUs have a key of their own, shares of GPUs need GPUs, and each device file is one."""
    for name, each in settings.all_node_sets.items():
        for gres_name, gres in each.gres.items():
            path = (*settings.path_of(name), "gres", gres_name)
            if gres_name == "gpu":
                yield Finding(path, "GPUs have a key of their own; move this to `gpus`")
            elif gres_name in _ON_GPUS and each.gpus is None:
                yield Finding(path, "is a share of GPUs; set gpus too", ((*settings.path_of(name), "gpus"),))
            else:
                yield from _files_and_count(gres, path)


def _files_and_count(gres: Gres, path: Path) -> Iterator[Finding]:
    if gres.file is None:
        return
    if gres.no_consume:
        yield Finding((*path, "noConsume"), "a device file is used by one job; take file or noConsume away")
    ranges = _ranges(gres.file)
    if any(low > high for low, high in ranges):
        yield Finding((*path, "file"), "has a range that runs backwards; turn it round")
        return
    if any(following[0] <= one[1] for one, following in pairwise(ranges)):
        yield Finding((*path, "file"), "names a device file twice; each is one of the count")
        return
    files = sum(high - low + 1 for low, high in ranges)
    if files != gres.count:
        message = f"names {files} device files, and count is {gres.count}; make them agree"
        yield Finding((*path, "file"), message, ((*path, "count"),))


def _ranges(file: str) -> list[tuple[int, int]]:
    """The numbers that a path with an optional range counts through, in order; of one without, a single one."""
    match = re.search(r"\[(.*)\]$", file)
    if match is None:
        return [(0, 0)]
    parts = [part.split("-") for part in match[1].split(",")]
    return sorted((int(part[0]), int(part[-1])) for part in parts)
