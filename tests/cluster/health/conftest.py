"""A cluster whose nodes are looked after, with two workers on two machines, and times that a test can wait for."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.stacks import Stack, until

NOT_ON_THE_CONTROL_PLANE = {"key": "slipway/role", "operator": "In", "values": ["system", "compute"]}
REBOOT = "slipway/reboot-requested"
HOME = "/mnt/jail/home/researcher"  # as checks see it

# A check and a prolog that tests switch with files of the researcher's; and an epilog that leaves a trace.
CHECK = f"""\
if [ -e {HOME}/reboot-$NODE ]; then echo "reboot: a file says so"; exit 1; fi
if [ -e {HOME}/broken-$NODE ]; then echo "a file says that $NODE is broken"; exit 1; fi
"""
PROLOG = f'if [ -e {HOME}/picky-$SLURMD_NODENAME ]; then echo "not on $SLURMD_NODENAME"; exit 1; fi'
EPILOG = f'echo "$SLURM_JOB_ID" >> {HOME}/epilog-$SLURMD_NODENAME'

CONFIG: dict[str, Any] = {
    "cluster": {"name": "health", "namespace": "health", "auth": "slurm", "stage": "development"},
    "nodeFilters": {
        "system": {"nodeSelector": {"slipway/role": "system"}},
        "both": {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [NOT_ON_THE_CONTROL_PLANE]}]
                    }
                }
            }
        },
    },
    "worker": {"size": 2, "cpus": 2, "memory": "512Mi", "gracePeriod": "15s", "nodeFilter": "both"},
    "login": {"size": 1, "service": {"type": "NodePort", "nodePort": 30322}},
    "health": {
        "enabled": True,
        "interval": "6s",
        "timeout": "3s",
        "stuckAfter": "15s",
        "reboot": {},
        "checks": {"file": CHECK},
        "prolog": {"picky": PROLOG},
        "epilog": {"trace": EPILOG},
    },
    "slurm": {"extra": {"SlurmdTimeout": 20, "MessageTimeout": 5}},  # a node that does not answer is down sooner
}


@pytest.fixture(scope="session")
def health(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "health", tmp_path_factory.mktemp("health"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()


@pytest.fixture
def nodes(health: Stack) -> Iterator[dict[str, str]]:
    """The machine of each node. All are in service before a test, and are so by themselves after it."""
    until(lambda: well(health), "both nodes to be in service")
    yield machines(health)
    health.run("rm -f ~/broken-* ~/reboot-* ~/picky-*")
    until(lambda: well(health), "both nodes to be in service again", 180)


def machines(stack: Stack) -> dict[str, str]:
    shown = stack.kubectl(
        *("get", "pods", "-l", "slipway/node-set"),
        *("-o", r"jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{'\n'}{end}"),
    )
    return dict(line.split() for line in shown.splitlines())


def shown(stack: Stack, node: str) -> tuple[set[str], str]:
    """Its states, and the reason for them."""
    text = stack.admin("scontrol", "show", "node", node)
    states = re.search(r"State=(\S+)", text)
    reason = re.search(r"Reason=(.*) \[", text)
    assert states, text
    return set(states[1].split("+")), reason[1] if reason else ""


def well(stack: Stack) -> bool:
    return all(
        states.isdisjoint({"DRAIN", "DOWN", "NOT_RESPONDING", "UNKNOWN"})
        for states, _ in (shown(stack, f"worker-{number}") for number in range(2))
    )


def drained(stack: Stack, node: str, reason: str, seconds: float = 40) -> str:
    """Until the node is drained for a reason that begins so: all of it."""

    def look() -> str | None:
        states, why = shown(stack, node)
        return why if "DRAIN" in states and why.startswith(reason) else None

    return until(look, f"{node} to be drained for {reason}", seconds)


def resumed(stack: Stack, node: str, seconds: float = 60) -> None:
    until(lambda: "DRAIN" not in shown(stack, node)[0], f"{node} to be resumed", seconds)
