"""`ClusterSecrets`: the keys that daemons know each other by, and the ssh host key. Made once, kept in the state."""

from typing import Literal

import pulumi
from pulumi_command.local import Command, Logging
from pulumi_kubernetes.core.v1 import Secret

from components.options import child
from config import Settings

Kind = Literal["munge", "slurm", "jwt", "host"]  # as `operations/run keys` knows them


class ClusterSecrets(pulumi.ComponentResource):
    """Two Secrets: what Slurm's daemons share, and what sshd proves itself with.

    A key is made when its resource is, and never again: whatever else changes, its command is left alone. A new one is
    made on purpose by raising its number under `secrets`, which the pods carry as an annotation and restart for."""

    daemons: pulumi.Output[str]
    host_keys: pulumi.Output[str]

    def __init__(
        self, name: str, settings: Settings, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("slipway:index:ClusterSecrets", name, None, opts)
        numbers = settings.secrets
        munge = self._made(name, "munge", numbers.munge)
        slurm = self._made(name, "slurm", numbers.slurm)
        jwt = self._made(name, "jwt", numbers.jwt)
        host = self._made(name, "host", numbers.host_keys)
        daemons = Secret(
            f"{name}-slurm-keys",
            metadata={"name": "slurm-keys", "namespace": namespace},
            data={"munge.key": munge, "slurm.key": slurm, "jwt.key": jwt},
            opts=child(self),
        )
        host_keys = Secret(
            f"{name}-ssh-host-keys",
            metadata={"name": "ssh-host-keys", "namespace": namespace},
            data={"ssh_host_ed25519_key": host},
            opts=child(self),
        )
        self.daemons = daemons.metadata.name
        self.host_keys = host_keys.metadata.name
        self.register_outputs({"daemons": self.daemons, "hostKeys": self.host_keys})

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


def key_numbers(settings: Settings) -> dict[str, str]:
    """Annotations by which pods restart when a key that they read is made anew."""
    numbers = settings.secrets
    auth = numbers.munge if settings.cluster.auth == "munge" else numbers.slurm
    return {"slipway/auth-key": str(auth)}
