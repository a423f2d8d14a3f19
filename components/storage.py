"""`SharedStorage`: the shared root of all users, what is mounted inside it, and the Job that fills it."""

import hashlib
from typing import Any

import pulumi
from pulumi_kubernetes.batch.v1 import Job
from pulumi_kubernetes.core.v1 import (
    EmptyDirVolumeSourceArgsDict,
    PersistentVolumeClaim,
    VolumeArgsDict,
    VolumeMountArgsDict,
)

from components import pods
from components.options import NO_WAIT, child, kept
from config import Settings
from config.storage import NodeSubmount, OwnVolume, Submount, Volume
from config.types import MemorySize

JAIL_CLAIM = "jail"


class SharedStorage(pulumi.ComponentResource):
    """Volumes and mounts for every pod that works in the shared root. `filled` is there when it can be used."""

    volumes: list[VolumeArgsDict]
    mounts: list[VolumeMountArgsDict]
    filled: Job

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        keeper: pulumi.ProviderResource | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:SharedStorage", name, None, opts)
        storage = settings.storage
        self._claims: list[pulumi.Resource] = []
        self._name, self._namespace, self._keeper = name, namespace, keeper
        self.volumes = [self._volume(JAIL_CLAIM, storage.jail)]
        self.mounts = [{"name": JAIL_CLAIM, "mount_path": pods.JAIL}]
        self.volumes += [self._volume(submount_name(each), each) for each in storage.submounts]
        self.mounts += [_mount(submount_name(each), each) for each in storage.submounts]
        self._of_node_sets = {
            name: [(submount_name(each, name), each) for each in node_set.submounts]
            for name, node_set in settings.all_node_sets.items()
        }
        self._their_volumes = {
            name: [self._volume(slug, each) for slug, each in submounts]
            for name, submounts in self._of_node_sets.items()
        }
        self.filled = self._populate(settings)
        self.register_outputs({})

    def on_nodes(self, node_set: str) -> tuple[list[VolumeArgsDict], list[VolumeMountArgsDict]]:
        """Volumes and mounts of a NodeSet's pods: those of everyone, and its own. A volume comes before what is inside
        it, whoever has asked for either."""
        own = [_mount(slug, each) for slug, each in self._of_node_sets[node_set]]
        mounts = sorted([*self.mounts[1:], *own], key=_depth)
        return [*self.volumes, *self._their_volumes[node_set]], [self.mounts[0], *mounts]

    def _volume(self, slug: str, volume: Volume) -> VolumeArgsDict:
        """The pod's volume, with a claim of our own where a StorageClass is named."""
        if volume.storage_class is not None:
            claim = claimed(
                f"{self._name}-{slug}",
                slug,
                self._namespace,
                volume.storage_class,
                str(volume.size),
                "ReadWriteMany",
                kept(self, self._keeper),
            )
            self._claims.append(claim)
        return volume_source(slug, volume)

    def _populate(self, settings: Settings) -> Job:
        """Fills the shared root. It runs again when the image changes, and then only with leave to overwrite."""
        image = settings.images.reference("jail")
        overwrite = settings.storage.jail.populate.overwrite
        return jail_job(
            f"{self._name}-populate-jail",
            "populate-jail",
            settings,
            self._namespace,
            ["/usr/local/lib/slipway/populate"],
            {"IMAGE": image, "OVERWRITE": str(overwrite).lower()},
            # The root alone: what is mounted inside it belongs to others.
            self.volumes[:1],
            self.mounts[:1],
            child(self, *self._claims),
        )


def jail_job(
    resource: str,
    name: str,
    settings: Settings,
    namespace: pulumi.Input[str],
    command: list[str],
    environment: dict[str, str],
    volumes: list[VolumeArgsDict],
    mounts: list[VolumeMountArgsDict],
    opts: pulumi.ResourceOptions,
    annotations: dict[str, str] | None = None,
) -> Job:
    """A Job with the jail's image and the shared root mounted, on the login pods' nodes."""
    node_filter = settings.login.node_filter
    return Job(
        resource,
        metadata={"name": name, "namespace": namespace, "labels": pods.labels(settings, name)},
        spec={
            "backoff_limit": 6,
            "template": {
                "metadata": pods.template_metadata(settings, name, node_filter, annotations),
                "spec": pods.placed(
                    settings,
                    node_filter,
                    {
                        "restart_policy": "OnFailure",
                        "containers": [
                            {
                                "name": name,
                                "image": settings.images.reference("jail"),
                                "command": command,
                                "env": pods.env(environment),
                                "resources": pods.resources("1", "512Mi"),
                                "security_context": JAIL_KEEPER,
                                "volume_mounts": mounts,
                            }
                        ],
                        "volumes": volumes,
                    },
                ),
            },
        },
        opts=opts,
    )


# Root, with what it takes to make files of any owner, and nothing more.
JAIL_KEEPER: Any = {
    "run_as_user": 0,
    "allow_privilege_escalation": False,
    "read_only_root_filesystem": True,
    "capabilities": {
        "drop": ["ALL"],
        "add": ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "MKNOD", "SETFCAP"],
    },
    "seccomp_profile": {"type": "RuntimeDefault"},
}


def submount_name(submount: Submount, node_set: str = "") -> str:
    """A volume's name from the path that users see, short and unique; with a NodeSet, from its name too."""
    place = node_set + submount.mount_path
    slug = "".join(letter if letter.isalnum() else "-" for letter in place.lower()).strip("-")
    return f"{slug[:40].rstrip('-')}-{hashlib.sha256(place.encode()).hexdigest()[:6]}"


def _mount(name: str, submount: Submount) -> VolumeMountArgsDict:
    return {"name": name, "mount_path": pods.JAIL + submount.mount_path, "read_only": submount.read_only}


def _depth(mount: VolumeMountArgsDict) -> int:
    return str(mount["mount_path"]).count("/")


def volume_source(name: str, volume: Volume | OwnVolume) -> VolumeArgsDict:
    """A pod's volume by the one source that is stated; `name` is the claim's where we make one."""
    if volume.host_path is not None:
        return {"name": name, "host_path": {"path": volume.host_path, "type": "DirectoryOrCreate"}}
    if isinstance(volume, Volume) and volume.nfs is not None:
        return {"name": name, "nfs": {"server": volume.nfs.server, "path": volume.nfs.path}}
    if isinstance(volume, NodeSubmount) and volume.empty_dir is not None:
        return {"name": name, "empty_dir": empty_dir(volume.empty_dir.size_limit)}
    return {"name": name, "persistent_volume_claim": {"claim_name": volume.existing_claim or name}}


def empty_dir(size: MemorySize | None) -> EmptyDirVolumeSourceArgsDict:
    """Room on the node, limited where a size is stated."""
    return {"size_limit": str(size)} if size else {}


def own_claim(
    resource: str,
    name: str,
    namespace: pulumi.Input[str],
    volume: OwnVolume,
    opts: pulumi.ResourceOptions,
    access_mode: str = "ReadWriteOnce",
) -> list[PersistentVolumeClaim]:
    """The claim of a volume, unless it is somebody else's or a folder of the nodes."""
    if volume.existing_claim or volume.host_path:
        return []
    return [claimed(resource, name, namespace, volume.storage_class, str(volume.size), access_mode, opts)]


def claimed(
    resource: str,
    name: str,
    namespace: pulumi.Input[str],
    storage_class: str | None,
    size: str,
    access_mode: str,
    opts: pulumi.ResourceOptions,
) -> PersistentVolumeClaim:
    """A claim that nobody waits for: some are bound only when a pod asks for them."""
    spec: Any = {"access_modes": [access_mode], "resources": {"requests": {"storage": size}}}
    if storage_class is not None:
        spec["storage_class_name"] = storage_class
    return PersistentVolumeClaim(
        resource,
        metadata={"name": name, "namespace": namespace, "annotations": NO_WAIT},
        spec=spec,
        opts=opts,
    )
