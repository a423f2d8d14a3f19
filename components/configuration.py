"""`Configuration`: Slurm's files as a ConfigMap, and the command that brings the running Slurm to them."""

import hashlib
from collections.abc import Mapping

import pulumi
from pulumi_command.local import Command
from pulumi_kubernetes.apps.v1 import StatefulSet
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.meta.v1.outputs import ObjectMeta

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

    def apply_after(
        self, settings: Settings, controller: pulumi.Resource, node_sets: Mapping[str, StatefulSet]
    ) -> Command:
        """Bring Slurm to these files, once everything that it is made of is there; and wait until it is."""
        command = "operations/run apply"
        sets = settings.all_node_sets
        generations = [each.metadata.apply(_generation) for each in node_sets.values()]
        return Command(
            f"{self._name}-apply",
            create=command,
            update=command,
            # In the environment: a change is an update, where a trigger would be a replacement.
            environment={
                "SLIPWAY_NAMESPACE": self._namespace,
                "SLIPWAY_CONFIG": digest(self.files),
                "SLIPWAY_NODES": ",".join(names(name, each.size) for name, each in sets.items() if each.size),
                "SLIPWAY_DOMAIN": f"{settings.cluster.namespace}.svc.{settings.cluster.domain}",
                "SLIPWAY_MAX_UNAVAILABLE": ",".join(
                    f"{name}={each.max_unavailable.of(each.size)}" for name, each in sets.items()
                ),
                "SLIPWAY_DRAIN_SECONDS": _seconds(settings.drain.timeout.seconds),
                "SLIPWAY_DRAIN_ON_TIMEOUT": settings.drain.on_timeout,
                # Changes with every change of a NodeSet's pods, so that those that run are replaced.
                "SLIPWAY_GENERATIONS": pulumi.Output.all(*generations).apply(" ".join),
            },
            opts=child(self, self.config_map, controller, *node_sets.values()),
        )


def _seconds(limit: int | None) -> str:
    return "inf" if limit is None else str(limit)


def _generation(metadata: ObjectMeta) -> str:
    return f"{metadata.name}:{metadata.generation}"


def digest(files: Mapping[str, str]) -> str:
    """One word for the whole of the files: the digest that `operations` computes in the controller's pod."""
    sums = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return hashlib.sha256("".join(sums).encode()).hexdigest()
