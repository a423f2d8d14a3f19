"""A pod for each node filter: proof that the filter's nodes exist and run our images."""

import pulumi
from pulumi_kubernetes.core.v1 import Namespace, Pod, PodSpecArgsDict

from config import Settings
from config.node_filters import NodeFilter


class Probe(pulumi.ComponentResource):
    """The namespace of the cluster, and one pod on the nodes of each filter."""

    namespace: pulumi.Output[str]
    pods: list[str]

    def __init__(self, name: str, settings: Settings, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("slipway:index:Probe", name, None, opts)
        namespace = Namespace(
            name, metadata={"name": settings.cluster.namespace}, opts=pulumi.ResourceOptions(parent=self)
        )
        self.namespace = namespace.metadata.name
        self.pods = [f"probe-{filter_name}" for filter_name in settings.node_filters]
        for pod, node_filter in zip(self.pods, settings.node_filters.values(), strict=True):
            Pod(
                pod,
                metadata={"name": pod, "namespace": self.namespace},
                spec=_spec(settings.images.reference("probe"), node_filter),
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({"namespace": self.namespace, "pods": self.pods})


def _spec(image: str, node_filter: NodeFilter) -> PodSpecArgsDict:
    return {
        "node_selector": node_filter.node_selector,
        "tolerations": [
            {"key": each.key, "operator": each.operator, "value": each.value, "effect": each.effect}
            for each in node_filter.tolerations
        ],
        "termination_grace_period_seconds": 0,  # it has nothing to finish
        "containers": [
            {
                "name": "probe",
                "image": image,
                "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "16Mi"}},
                "security_context": {
                    "allow_privilege_escalation": False,
                    "read_only_root_filesystem": True,
                    "run_as_non_root": True,
                    "run_as_user": 65534,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
