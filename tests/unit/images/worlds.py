"""Worlds for the caretaker to look at, and machines as Kubernetes shows them."""

from dataclasses import replace
from typing import Any

from caretaker.world import Machine, Node, Pod, World

NOW = 1_800_000_000.0
REBOOT = "slipway/reboot-requested"


def node(name: str, state: str = "IDLE", reason: str = "") -> Node:
    return Node(name, frozenset(state.split("+")), reason)


def world(*nodes: Node, **changes: Any) -> World:
    """Each node has a pod; those with even numbers are on m0, the others on m1."""
    pods = {each.name: Pod(each.name, f"uid-{each.name}", f"m{int(each.name[-1]) % 2}") for each in nodes}
    machines = {name: Machine(name, boot=f"b{name[-1]}") for name in ("m0", "m1")}
    made = World({each.name: each for each in nodes}, pods, machines, NOW)
    return replace(made, **changes)


def with_machine(made: World, **changes: Any) -> World:
    """The same, with another m0."""
    return replace(made, machines={**made.machines, "m0": replace(made.machines["m0"], **changes)})


def with_pod(made: World, name: str, **changes: Any) -> World:
    return replace(made, pods={**made.pods, name: replace(made.pods[name], **changes)})


def kubernetes_node(**changes: Any) -> dict[str, Any]:
    shown = {
        "metadata": {"name": "m0"},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"bootID": "0123456789-ab"}},
    }
    return {**shown, **changes}
