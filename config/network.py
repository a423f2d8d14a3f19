"""`network`: which connections the cluster's pods take, and which they open."""

from pydantic import Field

from config.section import Section
from config.types import DnsLabel, Switch


class Network(Section):
    """Which connections the cluster's pods take, and which they open."""

    policies: Switch = Field(default=False, examples=[True])
    """Make NetworkPolicies: every pod of the namespace is reached only by those who need it, on the ports that they
    need. They have an effect where the Kubernetes cluster's network enforces them, as Calico's and Cilium's do."""

    metrics_from: list[DnsLabel] = Field(default=[], examples=[["monitoring"]])
    """With `policies`: the namespaces that Prometheus asks for metrics from."""

    rest_from: list[DnsLabel] = Field(default=[], examples=[["ingress-nginx"]])
    """With `policies`: the namespaces whose pods may use the HTTP interface, such as the Ingress controller's. The
    cluster's own users always may; and so may everyone where its Service is open to the outside."""
