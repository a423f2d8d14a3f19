"""`login`: the pods that users log in to, and how they are reached."""

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from config.limits import Limits
from config.section import Section
from config.types import Choice, Count, CpuQuantity, FilterName, Hostname, LabelKey, MemorySize, Port, String
from config.types.shown import shown


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as reason:
        raise PydanticCustomError(
            "slipway",
            "{value} is not a network such as 10.0.0.0/8 ({reason})",
            {"value": shown(text), "reason": str(reason)},
        ) from None


Network = Annotated[String, AfterValidator(_network)]
ServiceType = Annotated[Literal["NodePort", "LoadBalancer", "ClusterIP"], Choice()]


class Service(Section):
    """A Kubernetes Service."""

    type: ServiceType = Field(default="ClusterIP", examples=["LoadBalancer"])
    """`NodePort` on every Kubernetes node, `LoadBalancer` at an address of its own, `ClusterIP` only inside."""

    node_port: Annotated[Port, Field(ge=1024)] | None = Field(default=None, examples=[30022])
    """The port on the nodes, with `NodePort` or `LoadBalancer`; Kubernetes picks one if left out."""

    port: Port = Field(default=22, examples=[22])
    """The port of the Service itself."""

    source_ranges: list[Network] = Field(default=[], examples=[["10.0.0.0/8"]])
    """Networks that may connect, with `LoadBalancer`; everyone if empty."""

    annotations: dict[LabelKey, String] = Field(default={}, examples=[{"example.com/internal": "true"}])
    """Annotations of the Service: what a cloud's load balancer is told with."""

    @property
    def outside(self) -> bool:
        """Whether it is reached from outside the Kubernetes cluster."""
        return self.type != "ClusterIP"


class LoginService(Service):
    """How users reach the login pods."""

    type: ServiceType = Field(default="NodePort", examples=["LoadBalancer"])
    """`NodePort` on every Kubernetes node, `LoadBalancer` at an address of its own, `ClusterIP` only inside."""

    address: Hostname | None = Field(default=None, examples=["login.hpc.example.com"])
    """The name or address that users connect to, for the ssh command that the stack prints. If left out: the load
    balancer's own, or with `NodePort` any node's."""


class Login(Section):
    """The pods that users log in to."""

    size: Annotated[Count, Field(le=100)] = Field(default=1, examples=[2])
    """How many login pods run. 0 runs none."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that the pods run under."""

    cpus: CpuQuantity = Field(default=CpuQuantity(250), examples=[2])
    """CPUs that are set aside for each login pod."""

    memory: MemorySize = Field(default=MemorySize.parse("512Mi"), examples=["4Gi"])
    """Memory that each login pod may use, with everything that users run in it."""

    limits: Limits = Field(default=Limits(), examples=[{"nproc": 2048, "core": 0}])
    """What one process of a session may use at the most (`ulimit`). Jobs have limits of their own: `limits` of their
    NodeSet. A login pod has no right to raise what the container runtime gives it."""

    service: LoginService = Field(default=LoginService(), examples=[{"type": "LoadBalancer"}])
    """How users reach it."""
