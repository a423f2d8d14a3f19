"""`images`: which container image each kind of pod runs."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from config.section import Section
from config.types import ImageReference
from config.types.names import Named, String

Role = Literal["controller", "worker", "login", "jail", "accounting", "database", "rest"]
ROLES: tuple[Role, ...] = get_args(Role)

# What every cluster deploys: an update without one of these images is refused.
DEPLOYED: tuple[Role, ...] = ("controller", "worker", "login", "jail")

# The release of Slurm Bridge whose contracts `components/bridge*.py` keep.
BRIDGE = "1.2.2"
_BRIDGE = "ghcr.io/slinkyproject/slurm-bridge"

Tag = Annotated[
    String, Named("an image tag: letters, digits, _ . and -", r"[A-Za-z0-9_][A-Za-z0-9._-]*", 128, ("26.05-1",))
]


class Images(Section):
    """Which container image each kind of pod runs: `<registry>/<role>:<tag>`, unless a role names one in full."""

    registry: ImageReference | None = Field(default=None, examples=["registry.example.com/slipway"])
    """Where the images are, with the path in front of the role's name."""

    tag: Tag = Field(default="latest", examples=["26.05-1"])
    """The tag of all images that come from `registry`."""

    controller: ImageReference | None = Field(
        default=None, examples=["registry.example.com/slipway/controller:26.05-1"]
    )
    """slurmctld."""

    worker: ImageReference | None = Field(default=None, examples=["registry.example.com/slipway/worker:26.05-1"])
    """slurmd."""

    login: ImageReference | None = Field(default=None, examples=["registry.example.com/slipway/login:26.05-1"])
    """sshd."""

    jail: ImageReference | None = Field(default=None, examples=["registry.example.com/slipway/jail:26.05-1"])
    """What the shared root is filled from."""

    accounting: ImageReference | None = Field(
        default=None, examples=["registry.example.com/slipway/accounting:26.05-1"]
    )
    """slurmdbd."""

    database: ImageReference | None = Field(default=None, examples=["registry.example.com/mariadb:11.8"])
    """MariaDB, where accounting brings its own database."""

    rest: ImageReference | None = Field(default=None, examples=["registry.example.com/slipway/rest:26.05-1"])
    """slurmrestd."""

    bridge_scheduler: ImageReference = Field(
        default=f"{_BRIDGE}-scheduler:{BRIDGE}", examples=["registry.example.com/mirror/slurm-bridge-scheduler:1.2.2"]
    )
    """The scheduler of the bridge. Slurm Bridge is SchedMD's: `registry` and `tag` do not speak of its images."""

    bridge_controllers: ImageReference = Field(
        default=f"{_BRIDGE}-controllers:{BRIDGE}",
        examples=["registry.example.com/mirror/slurm-bridge-controllers:1.2.2"],
    )
    """The controllers of the bridge, of the same release."""

    bridge_admission: ImageReference = Field(
        default=f"{_BRIDGE}-admission:{BRIDGE}", examples=["registry.example.com/mirror/slurm-bridge-admission:1.2.2"]
    )
    """The admission of the bridge, of the same release."""

    def named(self, role: Role) -> str | None:
        """The image of a role; None if neither it nor a registry is named."""
        stated: str | None = getattr(self, role)
        return stated or (f"{self.registry}/{role}:{self.tag}" if self.registry else None)

    def reference(self, role: Role) -> str:
        """The image of a role that is deployed, and so was checked to be named."""
        found = self.named(role)
        if found is None:
            raise LookupError(f"images.{role} is not set")
        return found
