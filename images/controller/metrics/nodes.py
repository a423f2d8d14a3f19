"""What becomes of nodes, and whose it is to see to those that do not serve."""

import re
from collections import Counter
from collections.abc import Iterator

SHOWN = 100  # nodes that are told of one by one

# What Slurm itself gives as the reason. Anything else was written by somebody, whoever's name it was done under: those
# who administer the cluster from the controller's pod are all called slurm there.
OF_SLURM = re.compile(
    r"Not responding|Low |gres/\S+ count|Kill task failed|(Prolog|Epilog)( error|/| fail)|Node unexpectedly rebooted|"
    r"batch job complete fail|Duplicate jobid|ResumeTimeout|reboot timed out|Invalid |Powered down after|"
    r"launch fail|not resumed|failed to |error:|\(null\)$|$",
    re.IGNORECASE,
)
OUR_OWN = "slipway:"

Sample = tuple[str, dict[str, str], float]
Fields = dict[str, str]


class Nodes:
    """What the page says of nodes, counted up one by one."""

    def __init__(self) -> None:
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.out: Counter[tuple[str, str, str]] = Counter()
        self.each: list[Fields] = []

    def add(self, fields: Fields) -> None:
        name, states = fields["NodeName"], set(fields["State"].split("+"))
        node_set = name.rpartition("-")[0]
        self.kinds[node_set, kind_of(states)] += 1
        out = out_of_service(states)
        if not out:
            return
        text = fields.get("Reason", "")
        reason, _, by = text.rpartition(" [") if text.endswith("]") and " [" in text else (text, "", "")
        whose = owner(reason, by.partition("@")[0])
        self.out[node_set, out, whose] += 1
        if len(self.each) < SHOWN:
            told = {"node": name, "nodeset": node_set, "state": out, "owner": whose}
            self.each.append({**told, "by": by.partition("@")[0], "reason": reason})

    def samples(self) -> Iterator[Sample]:
        for (node_set, kind), number in sorted(self.kinds.items()):
            yield "slipway_nodes", {"nodeset": node_set, "state": kind}, number
        for (node_set, state, whose), number in sorted(self.out.items()):
            labels = {"nodeset": node_set, "state": state, "owner": whose}
            yield "slipway_nodes_out_of_service", labels, number
        for labels in self.each:
            yield "slipway_node_out_of_service", labels, 1


def kind_of(states: set[str]) -> str:
    if states & {"POWERED_DOWN", "POWERING_DOWN", "FUTURE"}:
        return "off"
    if states & {"DOWN", "NOT_RESPONDING", "UNKNOWN", "FAIL"}:
        return "down"
    if "DRAIN" in states:
        return "drained"
    return "busy" if states & {"ALLOCATED", "MIXED", "COMPLETING"} else "idle"


def out_of_service(states: set[str]) -> str:
    """How a node is out of service, if it is. One that Slurm has stopped itself is not."""
    if "DOWN" in states and not states & {"POWERED_DOWN", "POWERING_DOWN"}:
        return "down"
    if "DRAIN" not in states:
        return ""
    return "draining" if states & {"ALLOCATED", "MIXED", "COMPLETING"} else "drained"


def owner(reason: str, by: str) -> str:
    """Who will see to it: we ourselves, a person, or nobody, as Slurm did it by itself."""
    if reason.startswith(OUR_OWN):
        return "slipway"
    return "none" if by in ("", "slurm", "root") and OF_SLURM.match(reason) else "person"
