"""`storage`: where the shared root of all users lives, and what else is mounted into it."""

from typing import Any, ClassVar, Self

from pydantic import Field, model_validator
from pydantic.alias_generators import to_snake
from pydantic_core import PydanticCustomError

from config.section import Section
from config.types import AbsolutePath, Hostname, MemorySize, ObjectName, Switch

SOURCES = ("hostPath", "storageClass", "existingClaim", "nfs")
OWN_SOURCES = ("storageClass", "existingClaim", "hostPath")
DEFAULT_JAIL = "/srv/slipway/jail"


class Nfs(Section):
    """An NFS export."""

    server: Hostname = Field(examples=["nas.example.com"])
    """Name or address of the server, as the Kubernetes nodes reach it."""

    path: AbsolutePath = Field(examples=["/export/home"])
    """The exported path."""


class Volume(Section):
    """Where shared data lives: exactly one of the four sources."""

    host_path: AbsolutePath | None = Field(default=None, examples=["/srv/slipway/jail"])
    """A directory on the Kubernetes nodes. It must be the same on each of them, as on a mounted filesystem."""

    storage_class: ObjectName | None = Field(default=None, examples=["cephfs"])
    """A StorageClass that a new claim of `size` is made from; one that can do ReadWriteMany."""

    existing_claim: ObjectName | None = Field(default=None, examples=["home"])
    """A PersistentVolumeClaim that exists in the namespace, with ReadWriteMany."""

    nfs: Nfs | None = Field(default=None, examples=[{"server": "nas.example.com", "path": "/export/home"}])
    """An NFS export."""

    size: MemorySize = Field(default=MemorySize.parse("100Gi"), examples=["2Ti"])
    """How much to claim, with `storageClass`."""

    all_sources: ClassVar[tuple[str, ...]] = SOURCES

    @property
    def sources(self) -> list[str]:
        """The sources that are stated, by their keys in a stack file."""
        return [key for key in self.all_sources if getattr(self, to_snake(key)) is not None]

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        """Two sources would leave it open which one the data is on."""
        refuse_all_but_one(self.sources, self.all_sources)
        return self


class OwnVolume(Section):
    """Where one pod keeps its data: at most one of the three sources."""

    storage_class: ObjectName | None = Field(default=None, examples=["fast"])
    """A StorageClass that a claim of `size` is made from; the Kubernetes cluster's default one if nothing is stated."""

    existing_claim: ObjectName | None = Field(default=None, examples=["slurmctld-state"])
    """A PersistentVolumeClaim that exists in the namespace."""

    host_path: AbsolutePath | None = Field(default=None, examples=["/srv/slipway/state"])
    """A directory on the Kubernetes nodes. Unless they share it, the pod starts empty on another node."""

    size: MemorySize = Field(default=MemorySize.parse("10Gi"), examples=["50Gi"])
    """How much to claim, unless the claim or directory exists."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        """Two sources would leave it open which one the data is on."""
        stated = [key for key in OWN_SOURCES if getattr(self, to_snake(key)) is not None]
        if stated:
            refuse_all_but_one(stated, OWN_SOURCES)
        return self


def refuse_all_but_one(stated: list[str], sources: tuple[str, ...]) -> None:
    """Raise unless exactly one source is stated."""
    if len(stated) == 1:
        return
    said = "names more than one source (" + ", ".join(stated) + ")" if stated else "does not say where the data is"
    raise PydanticCustomError(
        "slipway", "{said}; set exactly one of {sources}", {"said": said, "sources": ", ".join(sources)}
    )


class Populate(Section):
    """How the shared root is filled."""

    overwrite: Switch = Field(default=False, examples=[False])
    """Fill a root that is filled already: system files in it are replaced, homes are kept."""


class Jail(Volume):
    """The shared root that users log in to and jobs run in. Where nothing is said: `hostPath: /srv/slipway/jail`."""

    populate: Populate = Field(default=Populate(), examples=[{"overwrite": False}])
    """How the shared root is filled."""

    @model_validator(mode="before")
    @classmethod
    def _on_the_nodes(cls, values: Any) -> Any:
        """A jail without a source is on the nodes, so that `storage.jail.populate` can be set alone."""
        if isinstance(values, dict) and not {*SOURCES, *map(to_snake, SOURCES)} & set(values):
            return {**values, "hostPath": DEFAULT_JAIL}
        return values


class Submount(Volume):
    """A volume of its own at a path inside the shared root."""

    mount_path: AbsolutePath = Field(examples=["/home"])
    """Where users see it."""

    read_only: Switch = Field(default=False, examples=[True])
    """Mount it so that nobody can write to it."""


class EmptyDir(Section):
    """Room on the node that the pod runs on. It begins empty, and goes with the pod."""

    size_limit: MemorySize | None = Field(default=None, examples=["200Gi"])
    """How much may be in it. Kubernetes ends a pod that has more, and its jobs with it."""


class NodeSubmount(Submount):
    """A volume at a path inside the shared root, for the nodes of one NodeSet."""

    empty_dir: EmptyDir | None = Field(default=None, examples=[{"sizeLimit": "200Gi"}])
    """Room on the Kubernetes node, which is gone when the worker's pod is replaced. All users may write there."""

    all_sources: ClassVar[tuple[str, ...]] = (*SOURCES, "emptyDir")


class Storage(Section):
    """Where users' files live."""

    jail: Jail = Field(default=Jail(), examples=[{"storageClass": "cephfs", "size": "2Ti"}])
    """The shared root."""

    submounts: list[Submount] = Field(default=[], examples=[[{"mountPath": "/home", "existingClaim": "home"}]])
    """More volumes inside the shared root, at paths of their own."""

    retain: Switch = Field(default=True, examples=[False])
    """Whether `pulumi destroy` leaves the claims that the stack has made, and the namespace that they are in: users'
    files and the queue are then still there. Data that a claim does not hold (`hostPath`, `nfs`) always stays."""
