"""Which nodes a filter chooses by their labels, and whether two filters could choose the same one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass
class Label:
    """What one way through a filter asks of a label."""

    values: set[str] | None = None  # None: any
    never: set[str] = field(default_factory=set)
    present: bool = False
    absent: bool = False

    def demand(self, operator: str, values: list[str]) -> None:
        if operator == "In":
            self.values = set(values) if self.values is None else self.values & set(values)
            self.present = True
        elif operator == "NotIn":
            self.never |= set(values)
        elif operator == "Exists":
            self.present = True
        elif operator == "DoesNotExist":
            self.absent = True

    @property
    def impossible(self) -> bool:
        return (self.present and self.absent) or (self.values is not None and not self.values - self.never)


def overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a node could be chosen by both. If that cannot be ruled out, it could."""
    return any(_possible(a + b) for a in _ways(one) for b in _ways(other))


Demand = tuple[str, str, list[str]]


def _ways(node_filter: Mapping[str, Any]) -> list[list[Demand]]:
    """The alternatives of a filter, each as what it demands of labels."""
    selected: list[Demand] = [(key, "In", [value]) for key, value in node_filter["nodeSelector"].items()]
    required = node_filter["affinity"].get("nodeAffinity", {}).get(REQUIRED, {})
    return [
        selected
        + [
            (each["key"], each["operator"], each.get("values", []))
            for kind in ("matchExpressions", "matchFields")
            for each in term.get(kind, [])
        ]
        for term in required.get("nodeSelectorTerms") or [{}]
    ]


def _possible(demands: list[Demand]) -> bool:
    labels: dict[str, Label] = {}
    for key, operator, values in demands:
        labels.setdefault(key, Label()).demand(operator, values)
    return not any(label.impossible for label in labels.values())
