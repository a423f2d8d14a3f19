"""Kubernetes' quantities: CPUs, memory and GPUs of containers."""

import re
from decimal import Decimal
from typing import Any

from config.types import CpuQuantity, MemorySize
from operations.importing.field import Taking, Unusable, mapping

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(m|k|[KMGTPE]i?|[eE][0-9]{1,2})?")
_UNITS = {"": Decimal(1), "m": Decimal("0.001"), "k": Decimal(1000), "K": Decimal(1000)}
_UNITS |= {f"{letter}i": Decimal(1 << 10 * power) for power, letter in enumerate("KMGTPE", start=1)}
_UNITS |= {letter: Decimal(1000**power) for power, letter in enumerate("MGTPE", start=2)}
_GPU = re.compile(r"(nvidia\.com/gpu|amd\.com/gpu|gpu)", re.IGNORECASE)
_DISK = ("ephemeral-storage", "ephemeralStorage")
_DEVICES = "no setting asks Kubernetes for other devices; a node filter can select nodes that have them"


def quantity(value: Any) -> Decimal:
    """A number of Kubernetes, such as 500m, 1.5Gi or 2e9."""
    match = _QUANTITY.fullmatch(str(value).strip())
    if match is None or isinstance(value, bool):
        raise Unusable("it is no quantity such as 500m or 4Gi; state it by hand")
    unit = match[2] or ""
    exponent = unit[0] in "eE" and unit[1:].isdecimal() if unit else False
    return Decimal(match[1]) * (Decimal(f"1{unit}") if exponent else _UNITS[unit])


def memory(value: Any) -> str:
    """A size as a stack file takes it: whole bytes, at least a mebibyte."""
    size = int(quantity(value))
    if not MemorySize.parse("1Mi").bytes <= size < 1 << 63:
        raise Unusable("it is less than 1Mi, or more than can be counted; state it by hand")
    return str(MemorySize(size))


def share(value: Any) -> str | int:
    """CPUs of something that serves: fractions are fine."""
    milli = int(quantity(value) * 1000)
    if milli < 1:
        raise Unusable("it is less than 1m; state it by hand")
    text = str(CpuQuantity(milli))
    return int(text) if text.isdecimal() else text


def _amounts(taking: Taking) -> dict[str, Any]:
    """What a container has by kind of resource: as Soperator says it, or in the words of a container."""
    values = mapping(taking.value)
    if not {"limits", "requests", "claims"} & values.keys():
        return values
    taking.only("limits", "requests")
    limits, requests = mapping(values.get("limits") or {}), mapping(values.get("requests") or {})
    return {**requests, **limits}


def serving(section: str):
    """Takes the resources of a container that serves."""

    def take(taking: Taking) -> None:
        values = _amounts(taking)
        requests = taking.value.get("requests") or {}
        for kind, amount in (values | {kind: requests[kind] for kind in ("cpu",) if kind in requests}).items():
            if kind == "cpu":
                taking.put(share(amount), f"{section}.cpus")
            elif kind == "memory":
                taking.put(memory(amount), f"{section}.memory")
            elif kind in _DISK:
                taking.left("Slipway sets no limit for the disk of a pod", kind)
            else:
                taking.left(_DEVICES, kind)

    return take


def node(taking: Taking) -> None:
    """The resources of slurmd are those of the Slurm node: whole CPUs, memory, GPUs."""
    for kind, amount in _amounts(taking).items():
        if kind == "cpu":
            cpus = quantity(amount)
            if cpus < 1 or cpus != int(cpus):
                taking.adapted(f"Slurm hands out whole CPUs, and {amount} is not a whole number")
            taking.put(max(int(cpus), 1), "nodeSets.*.cpus")
        elif kind == "memory":
            taking.put(memory(amount), "nodeSets.*.memory")
        elif _GPU.fullmatch(kind):
            if count := int(quantity(amount)):
                taking.put(count, "nodeSets.*.gpus.count")
                if kind not in ("gpu", "nvidia.com/gpu"):
                    taking.put(kind, "nodeSets.*.gpus.resourceName")
        elif kind in _DISK:
            taking.left("Slipway sets no limit for the disk of a pod", kind)
        else:
            taking.left(_DEVICES, kind)
