"""`ClusterSecrets`: the keys that daemons know each other by, and the ssh host key. Made once, kept in the state."""

import hashlib
from typing import Literal

import pulumi
from pulumi_command.local import Command, Logging
from pulumi_kubernetes.core.v1 import Secret

from components.options import child
from config import Settings
from slurm import places

Kind = Literal["munge", "slurm", "jwt", "host", "database"]  # as `operations/run keys` knows them


class ClusterSecrets(pulumi.ComponentResource):
    """Two Secrets: what Slurm's daemons share, and what sshd proves itself with; and one for accounting's own database.

    A key is made when its resource is, and never again: whatever else changes, its command is left alone. A new one is
    made on purpose by raising its number under `secrets`. Pods carry a digest of the keys that they read, by which they
    restart for a new one; not its number, since a number that is taken back does not bring the old key back."""

    auth_key: pulumi.Output[str]
    jwt_key: pulumi.Output[str]
    host_key: pulumi.Output[str]
    daemons: pulumi.Output[str]
    host_keys: pulumi.Output[str]

    def __init__(
        self, name: str, settings: Settings, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("slipway:index:ClusterSecrets", name, None, opts)
        numbers = settings.secrets
        self._name, self._namespace, self._numbers = name, namespace, numbers
        self._munge = self._made(name, "munge", numbers.munge)
        self._slurm = self._made(name, "slurm", numbers.slurm)
        self._jwt = self._made(name, "jwt", numbers.jwt)
        self._host = self._made(name, "host", numbers.host_keys)
        self.auth_key = _digest(self._munge if settings.cluster.auth == "munge" else self._slurm)
        self.jwt_key = _digest(self._jwt)
        self.host_key = _digest(self._host)
        self.register_outputs({})

    def hand_out_after(self, *after: pulumi.Resource) -> None:
        """Put the keys where pods that start find them: for a new one, when no job is left that needs the old."""
        daemons = Secret(
            f"{self._name}-slurm-keys",
            metadata={"name": "slurm-keys", "namespace": self._namespace},
            data={"munge.key": self._munge, "slurm.key": self._slurm, "jwt.key": self._jwt},
            opts=child(self, *after),
        )
        host_keys = Secret(
            f"{self._name}-ssh-host-keys",
            metadata={"name": "ssh-host-keys", "namespace": self._namespace},
            data={"ssh_host_ed25519_key": self._host},
            opts=child(self),
        )
        self.daemons = daemons.metadata.name
        self.host_keys = host_keys.metadata.name

    def database(self) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
        """The Secret with the password of accounting's own database under `password`, and a digest of it."""
        password = self._made(self._name, "database", self._numbers.database)
        secret = Secret(
            f"{self._name}-database",
            metadata={"name": places.DATABASE, "namespace": self._namespace},
            data={"password": password},
            opts=child(self),
        )
        return secret.metadata.name, _digest(password)

    def _made(self, name: str, kind: Kind, number: int) -> pulumi.Output[str]:
        """A key in base64, which never stands in plain text in state or output."""
        command = Command(
            f"{name}-{kind}-key",
            create=f"operations/run keys {kind}",
            triggers=[number],
            logging=Logging.NONE,
            opts=pulumi.ResourceOptions(
                parent=self,
                additional_secret_outputs=["stdout"],
                # An update without a command of its own would run `create` again, and with it make another key.
                ignore_changes=["create", "interpreter", "environment", "dir", "logging"],
            ),
        )
        return pulumi.Output.secret(command.stdout)


def _digest(key: pulumi.Output[str]) -> pulumi.Output[str]:
    """Tells one key from another, and nothing else about it."""
    return pulumi.Output.unsecret(key.apply(lambda text: hashlib.sha256(text.encode()).hexdigest()[:12]))
