"""`Configuration`: Slurm's files as a ConfigMap, and the commands that bring the running Slurm to them."""

import json
from collections.abc import Mapping, Sequence

import pulumi
from pulumi_command.local import Command
from pulumi_kubernetes.apps.v1 import StatefulSet
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.meta.v1.outputs import ObjectMeta

from components.change import Change, environment
from components.options import child
from config import Settings

CONFIG_MAP = "slurm-config"


class Configuration(pulumi.ComponentResource):
    """From one config to the next, in four steps that the other parts of the cluster come between:

    `prepared`: the files were rehearsed, and what goes away is empty. Then NodeSets grow.
    `written`: the files are in the ConfigMap, under one name for ever, so that a change is an update one can read.
    `applied`: the running Slurm has them, and that is verified. Then NodeSets shrink.
    `rolled`: worker pods are as their templates say, and serve."""

    prepared: Command
    config_map: ConfigMap

    def __init__(
        self,
        name: str,
        settings: Settings,
        files: Mapping[str, str],
        namespace: pulumi.Input[str],
        change: Change,
        auth_key: pulumi.Input[str] = "",
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:Configuration", name, None, opts)
        self.files = files
        self._name, self._namespace = name, namespace
        self._environment = {**environment(settings), "SLIPWAY_NAMESPACE": namespace, "SLIPWAY_AUTH_KEY": auth_key}
        self._repairs = change.repairs
        self.prepared = self._command("prepare", {})
        self.register_outputs({})

    def write_after(self, after: Sequence[pulumi.Resource]) -> ConfigMap:
        """Once the pods of new nodes are there: slurmctld must never look for a name that is not."""
        self.config_map = ConfigMap(
            f"{self._name}-config",
            metadata={
                "name": CONFIG_MAP,
                "namespace": self._namespace,
                # A failed update puts the files of before back, and what stands in the stack wins the next time.
                "annotations": {"pulumi.com/patchForce": "true"},
            },
            data=dict(self.files),
            opts=child(self, self.prepared, *after),
        )
        return self.config_map

    def apply_after(self, controller: pulumi.Resource) -> Command:
        """Bring Slurm to these files, and wait until it has them."""
        return self._command(
            "apply",
            {
                # It runs whenever the ConfigMap was written, also with files that it ran with before: after a failed
                # update, those of the last good one are such.
                "SLIPWAY_WRITTEN": self.config_map.metadata.apply(_version),
                "SLIPWAY_REPAIRS": str(self._repairs),
            },
            self.config_map,
            controller,
        )

    def roll_after(
        self, node_sets: Sequence[StatefulSet], *after: pulumi.Resource, token_key: pulumi.Input[str] | None = None
    ) -> Command:
        """Replace worker pods that are not as their templates say, and wait until all nodes serve. For a new key of
        tokens only the controller restarts, and that is waited for."""
        generations = [each.metadata.apply(_generation) for each in node_sets]
        # Changes with every change of a NodeSet's pods.
        changed = pulumi.Output.all(*generations).apply(" ".join)
        more: dict[str, pulumi.Input[str]] = {"SLIPWAY_GENERATIONS": changed}
        if token_key is not None:
            more["SLIPWAY_TOKEN_KEY"] = token_key
        return self._command("roll", more, *after, *node_sets, files=False)

    def _command(
        self, what: str, more: Mapping[str, pulumi.Input[str]], *after: pulumi.Resource, files: bool = True
    ) -> Command:
        line = f"operations/run {what}"
        return Command(
            f"{self._name}-{what}",
            create=line,
            update=line,
            # In the environment: a change is an update, where a trigger would be a replacement.
            environment={**self._environment, **more},
            # Not shown in a preview a second time; the ConfigMap is what a reviewer reads.
            stdin=pulumi.Output.secret(json.dumps(dict(self.files))) if files else None,
            add_previous_output_in_env=False,
            opts=child(self, *after),
        )


def _version(metadata: ObjectMeta) -> str:
    return str(metadata.resource_version)


def _generation(metadata: ObjectMeta) -> str:
    return f"{metadata.name}:{metadata.generation}"
