"""`rest`: slurmrestd, Slurm's HTTP interface."""

from typing import Annotated

from pydantic import Field

from config.login import Service
from config.section import Section
from config.types import (
    CpuQuantity,
    DnsName,
    FilterName,
    Integer,
    Interval,
    LabelKey,
    MemorySize,
    ObjectName,
    Port,
    String,
    Switch,
)


class RestService(Service):
    """How slurmrestd is reached."""

    port: Port = Field(default=6820, examples=[6820])
    """The port of the Service itself."""


class Ingress(Section):
    """A Kubernetes Ingress in front of slurmrestd: https from outside. There is none without TLS, as whoever reads a
    token on its way can use it."""

    host: DnsName = Field(examples=["slurm.example.com"])
    """The name that it is reached by, as the certificate says it."""

    tls_secret: ObjectName = Field(examples=["rest-tls"])
    """The Secret with certificate and key, made by others: without it tokens would travel in the clear."""

    class_name: ObjectName | None = Field(default=None, examples=["nginx"])
    """The IngressClass; the Kubernetes cluster's default if left out."""

    annotations: dict[LabelKey, String] = Field(
        default={}, examples=[{"cert-manager.io/cluster-issuer": "letsencrypt"}]
    )
    """Annotations of the Ingress: what its controller, or cert-manager, is told with."""


class Rest(Section):
    """slurmrestd, Slurm's HTTP interface. Callers prove who they are with a JSON web token (`slipway token`)."""

    enabled: Switch = Field(default=False, examples=[True])
    """Run it."""

    size: Annotated[Integer, Field(ge=1, le=100)] = Field(default=1, examples=[2])
    """How many pods share the work."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that the pods run under."""

    cpus: CpuQuantity = Field(default=CpuQuantity(100), examples=["500m"])
    """CPUs that are set aside for each pod. While it has much to answer, it may use a whole one."""

    memory: MemorySize = Field(default=MemorySize.parse("256Mi"), examples=["1Gi"])
    """Memory that each pod may use, which limits how large an answer can get. 64Mi of it are set aside."""

    service: RestService = Field(default=RestService(), examples=[{"type": "ClusterIP", "port": 6820}])
    """How it is reached."""

    ingress: Ingress | None = Field(default=None, examples=[{"host": "slurm.example.com", "tlsSecret": "rest-tls"}])
    """https from outside, through an Ingress controller that the Kubernetes cluster has. None if left out."""

    max_lifespan: Interval = Field(default=Interval.parse("30d"), examples=["12h"])
    """For how long a token is good at most. It holds for `slipway token`, and for users who run `scontrol token`."""
