"""`Configuration`: Slurm's files as a ConfigMap, and the command that brings the running Slurm to them."""

import hashlib
from collections.abc import Mapping, Sequence

import pulumi
from pulumi_command.local import Command
from pulumi_kubernetes.core.v1 import ConfigMap

from components.options import child
from config import Settings
from slurm.nodes import names

CONFIG_MAP = "slurm-config"


class Configuration(pulumi.ComponentResource):
    """The files, under one name for ever, so that a change is an update that a reviewer can read."""

    config_map: ConfigMap
    files: Mapping[str, str]

    def __init__(
        self,
        name: str,
        files: Mapping[str, str],
        namespace: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Configuration", name, None, opts)
        self.files = files
        self._namespace = namespace
        self._name = name
        self.config_map = ConfigMap(
            f"{name}-config",
            metadata={"name": CONFIG_MAP, "namespace": namespace},
            data=dict(files),
            opts=child(self),
        )
        self.register_outputs({})

    def apply_after(self, settings: Settings, after: Sequence[pulumi.Resource]) -> Command:
        """Bring Slurm to these files, once everything that it is made of is there; and wait until it is."""
        command = "operations/run apply"
        return Command(
            f"{self._name}-apply",
            create=command,
            update=command,
            # In the environment: a change is an update, where a trigger would be a replacement.
            environment={
                "SLIPWAY_NAMESPACE": self._namespace,
                "SLIPWAY_CONFIG": digest(self.files),
                "SLIPWAY_NODES": ",".join(
                    names(node_set, each.size) for node_set, each in settings.all_node_sets.items() if each.size
                ),
            },
            opts=child(self, self.config_map, *after),
        )


def digest(files: Mapping[str, str]) -> str:
    """One word for the whole of the files: the digest that `operations` computes in the controller's pod."""
    sums = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return hashlib.sha256("".join(sums).encode()).hexdigest()
