"""What all Services have in common by which people and programs reach the cluster."""

from collections.abc import Mapping
from typing import Any

from config.login import Service


def spec(wanted: Service, labels: Mapping[str, str], name: str, target: int) -> dict[str, Any]:
    """A Service as the stack asks for it, in front of these pods."""
    port: dict[str, Any] = {"name": name, "port": wanted.port, "target_port": target}
    if wanted.node_port is not None:
        port["node_port"] = wanted.node_port
    found: dict[str, Any] = {"type": wanted.type, "selector": dict(labels), "ports": [port]}
    if wanted.type == "LoadBalancer" and wanted.source_ranges:
        found["load_balancer_source_ranges"] = wanted.source_ranges
    if wanted.type != "ClusterIP":
        # Any node will do, also one without such a pod.
        found["external_traffic_policy"] = "Cluster"
    return found


def address(service: Any) -> tuple[str | None, int | None]:
    """Where it is found from outside, as far as Kubernetes tells: a load balancer's address, and the nodes' port."""
    spec, status = service
    ingress = (status.get("load_balancer") or {}).get("ingress") or []
    found = next((each.get("hostname") or each.get("ip") for each in ingress), None)
    return found, spec["ports"][0].get("node_port")
