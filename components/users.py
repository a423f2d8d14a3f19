"""`Users`: users, groups, homes and authorized keys in the shared root, as the stack declares them."""

import hashlib
import json

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap

from components.options import child
from components.storage import SharedStorage, jail_job
from config import Settings

FILE = "users.json"


class Users(pulumi.ComponentResource):
    """A Job that makes the shared root's users be those of the stack, once for each change. No pod restarts for it."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        storage: SharedStorage,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Users", name, None, opts)
        text = json.dumps(declared(settings), indent=1)
        table = ConfigMap(
            f"{name}-users",
            metadata={"name": "users", "namespace": namespace},
            data={FILE: text},
            opts=child(self),
        )
        self.applied = jail_job(
            f"{name}-apply-users",
            "apply-users",
            settings,
            namespace,
            ["/usr/local/lib/slipway/users", f"/mnt/users/{FILE}"],
            {},
            [*storage.volumes, {"name": "users", "config_map": {"name": "users"}}],
            [*storage.mounts, {"name": "users", "mount_path": "/mnt/users", "read_only": True}],
            child(self, storage.filled, table),
            # A Job cannot be changed, so that another digest is another run.
            {"slipway/users": hashlib.sha256(text.encode()).hexdigest()[:16]},
        )
        self.register_outputs({})


def declared(settings: Settings) -> dict[str, list[dict[str, object]]]:
    """What the Job is told: every user, and every group, with those that users have to themselves."""
    users: list[dict[str, object]] = [
        {
            "name": user.name,
            "uid": user.uid,
            "gid": user.primary_gid,
            "groups": user.groups,
            "shell": user.shell,
            "keys": user.ssh_keys,
        }
        for user in settings.users
    ]
    groups = {group.name: group.gid for group in settings.groups}
    taken = set(groups.values())
    own: dict[str, int] = {}
    for user in settings.users:
        if user.primary_gid not in taken:
            own[user.name] = user.primary_gid
            taken.add(user.primary_gid)
    return {"users": users, "groups": [{"name": name, "gid": gid} for name, gid in {**own, **groups}.items()]}
