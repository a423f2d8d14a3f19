"""The real program with the real pack through the real engine, and without a cluster: a preview needs none."""

import json
from pathlib import Path
from typing import Any

import yaml

from lab import paths
from tests.engine.project import Project, Result

PACK = paths.CHECKOUT / "policies"
_NOWHERE = """
apiVersion: v1
kind: Config
clusters: [{name: gone, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: somebody, user: {token: none}}]
contexts: [{name: gone, context: {cluster: gone, user: somebody}}]
current-context: gone
"""
# Runs the checkout's program after this one has said what to change in resources on their way to the engine.
_PROGRAM = """
import json
import runpy
import sys
from pathlib import Path

import pulumi
from pulumi_command.local import Command

sys.path.insert(0, {checkout!r})
CHANGES = json.loads(Path("changes.json").read_text())
UNKNOWN = Command("unknown", create="date").stdout if "unknown" in json.dumps(CHANGES) else None


def changed(args):
    mine = [each for each in CHANGES if each["resource"] == [args.type_.rpartition(":")[2], args.name]]
    for each in mine:
        *way, last = each["path"]
        inside = args.props
        for key in way:
            inside = inside[key]
        inside[last] = UNKNOWN if each["value"] == "unknown" else each["value"]
    return pulumi.ResourceTransformResult(args.props, args.opts) if mine else None


if CHANGES:
    pulumi.runtime.register_resource_transform(changed)
runpy.run_path({program!r}, run_name="__main__")
"""


class Stack(Project):
    """A stack of Slipway's own project, with changes to its config and to the resources that it makes."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.settings(name="slipway")
        (self.directory / "operations").symlink_to(paths.CHECKOUT / "operations")  # commands are run from the project
        program = paths.CHECKOUT / "__main__.py"
        self.write(_PROGRAM.format(checkout=str(paths.CHECKOUT), program=str(program)))
        self.env["KUBECONFIG"] = str(self.file("gone.yaml", _NOWHERE))
        for role in ("CONTROLLER", "WORKER", "LOGIN", "JAIL"):
            self.env[f"SLIPWAY_{role}_IMAGE"] = f"localhost/slipway/{role.lower()}:1"

    def checked(
        self, file: str = "dev", *, changes: Any = (), config: Any = None, fails: bool = False, **keys: Any
    ) -> "Verdict":
        """Preview a stack file of the checkout with whole keys replaced, resources changed, and the pack configured."""
        stack = yaml.safe_load((paths.CHECKOUT / f"Pulumi.{file}.yaml").read_text())["config"]
        kept = {key: value for key, value in stack.items() if not key.startswith(tuple(f"slipway:{k}." for k in keys))}
        own = self.directory / f"Pulumi.{self.stack}.yaml"
        before = yaml.safe_load(own.read_text()) if own.exists() else {}
        merged = kept | {f"slipway:{key}": value for key, value in keys.items()}
        own.write_text(yaml.safe_dump((before or {}) | {"config": merged}, sort_keys=False))
        self.file("changes.json", json.dumps(list(changes)))
        words = ["--policy-pack", str(PACK)]
        if config is not None:
            words += ["--policy-pack-config", str(self.file("config.json", json.dumps(config)))]
        return Verdict(self.preview(*words, fails=fails))


class Verdict:
    """What the pack said in a preview, by rule and resource."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.said: dict[tuple[str, str, str], str] = {}
        for event in result.events:
            if found := event.get("policyEvent"):
                resource = found.get("resourceUrn", "").rsplit("::", 1)[-1]
                key = (found["enforcementLevel"], found["policyName"], resource)
                self.said[key] = self.said.get(key, "") + found["message"]

    @property
    def stopped(self) -> set[str]:
        """Rules that were broken so that the preview failed."""
        return {rule for level, rule, _ in self.said if level == "mandatory"}

    @property
    def advised(self) -> set[str]:
        return {rule for level, rule, _ in self.said if level == "advisory"}

    def of(self, rule: str, resource: str) -> str:
        """What a mandatory rule said of a resource, as a user sees it."""
        found = self.said.get(("mandatory", rule, resource), "")
        assert found, f"{rule} has nothing against {resource}; said was: {self.said}"
        return " ".join(found.split())


def change(resource: str, path: str, value: Any) -> dict[str, Any]:
    """Something else in a resource: `StatefulSet dev-worker`, `spec.template.spec.nodeSelector`."""
    way = [int(key) if key.isdigit() else key for key in path.split(".")]
    return {"resource": resource.split(), "path": way, "value": value}
