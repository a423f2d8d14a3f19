"""Node filters that keep off the control plane and say something that Kubernetes accepts."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import Settings

CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


def control_planes_stay_free(settings: Settings) -> Iterator[Finding]:
    """Jobs are other people's programs: they have no business beside the API server."""
    for name, each in settings.node_filters.items():
        for index, toleration in enumerate(each.tolerations):
            if toleration.key in CONTROL_PLANE:
                path = ("nodeFilters", name, "tolerations", index, "key")
                yield Finding(path, "nothing of the cluster may run on control-plane nodes; take this toleration away")
        for key in each.node_selector:
            if key in CONTROL_PLANE:
                path = ("nodeFilters", name, "nodeSelector", key)
                yield Finding(path, "nothing of the cluster may run on control-plane nodes; select others")


def tolerations_make_sense(settings: Settings) -> Iterator[Finding]:
    """Kubernetes refuses these only when the pods are made."""
    for name, each in settings.node_filters.items():
        for index, toleration in enumerate(each.tolerations):
            path = ("nodeFilters", name, "tolerations", index)
            if toleration.operator == "Exists" and toleration.value is not None:
                yield Finding((*path, "value"), "has no meaning with operator Exists; set operator: Equal", (path,))
            if toleration.operator == "Equal" and toleration.value is None:
                yield Finding((*path, "operator"), "Equal needs a value; set value, or operator: Exists", (path,))
            if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
                message = "has a meaning only with effect NoExecute; set that, or take this away"
                yield Finding((*path, "tolerationSeconds"), message, (path,))
