"""`rest`: slurmrestd, Slurm's HTTP interface."""

from typing import Annotated

from pydantic import Field

from config.login import Service
from config.section import Section
from config.types import CpuQuantity, FilterName, Integer, MemorySize, Port, Switch


class RestService(Service):
    """How slurmrestd is reached."""

    port: Port = Field(default=6820, examples=[6820])
    """The port of the Service itself."""


class Rest(Section):
    """slurmrestd, Slurm's HTTP interface. Callers prove who they are with a JSON web token (`scontrol token`)."""

    enabled: Switch = Field(default=False, examples=[True])
    """Run it."""

    size: Annotated[Integer, Field(ge=1, le=100)] = Field(default=1, examples=[2])
    """How many pods share the work."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that the pods run under."""

    cpus: CpuQuantity = Field(default=CpuQuantity(100), examples=["500m"])
    """CPUs that are set aside for each pod."""

    memory: MemorySize = Field(default=MemorySize.parse("256Mi"), examples=["1Gi"])
    """Memory that each pod may use."""

    service: RestService = Field(default=RestService(), examples=[{"type": "ClusterIP", "port": 6820}])
    """How it is reached."""
