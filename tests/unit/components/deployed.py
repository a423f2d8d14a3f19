"""A whole `SlurmCluster` made against mocks: what a stack config asks the engine for, without an engine."""

import functools
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pulumi
from pulumi.runtime import rpc
from pulumi.runtime.mocks import MockMonitor

from config import Settings

REGISTRY = {"images": {"registry": "registry.example.com/slipway", "tag": "1"}}


@dataclass(frozen=True)
class Resource:
    """One resource as it was asked for, with the options that an engine sees."""

    type: str
    name: str
    urn: str
    parent: str
    provider: str
    inputs: dict[str, Any]
    """In Kubernetes' own words. Secrets are marked, as they travel."""
    dependencies: frozenset[str]
    """URNs of everything that has to be there first."""
    retained: bool
    ignored: frozenset[str]
    secret_outputs: frozenset[str]

    @property
    def kind(self) -> str:
        return self.type.rsplit(":", 1)[-1]

    @functools.cached_property
    def metadata(self) -> dict[str, Any]:
        return plain(self.inputs["metadata"])

    @functools.cached_property
    def spec(self) -> dict[str, Any]:
        return plain(self.inputs["spec"])

    @functools.cached_property
    def data(self) -> dict[str, Any]:
        return plain(self.inputs["data"])


@dataclass(frozen=True)
class Pod:
    """The template that a workload makes pods from."""

    workload: Resource

    def __str__(self) -> str:
        return f"{self.workload.kind} {self.workload.metadata['name']}"

    @property
    def metadata(self) -> dict[str, Any]:
        return self.workload.spec["template"]["metadata"]

    @property
    def spec(self) -> dict[str, Any]:
        return self.workload.spec["template"]["spec"]

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata["labels"]

    @property
    def init_containers(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self.spec.get("initContainers", [])}

    @property
    def containers(self) -> dict[str, dict[str, Any]]:
        """All that run for as long as the pod or before it, by name."""
        every = [*self.spec.get("initContainers", []), *self.spec["containers"]]
        names = [each["name"] for each in every]
        assert len(set(names)) == len(names), f"{self} has two containers of one name: {names}"
        return {each["name"]: each for each in every}

    @property
    def volumes(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self.spec.get("volumes", [])}


@dataclass(repr=False)
class Made:
    """Everything that a stack has made."""

    settings: Settings
    resources: list[Resource] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def __call__(self, kind: str, name: str) -> Resource:
        """The Kubernetes object of a kind and name."""
        for each in self.of(kind):
            if each.metadata["name"] == name:
                return each
        known = [f"{each.kind} {each.metadata['name']}" for each in self.resources if "metadata" in each.inputs]
        raise AssertionError(f"there is no {kind} {name} among {', '.join(known)}")

    def of(self, kind: str) -> list[Resource]:
        return [each for each in self.resources if each.kind == kind]

    def names(self, kind: str) -> set[str]:
        return {each.metadata["name"] for each in self.of(kind)}

    def command(self, name: str) -> Resource:
        [found] = [each for each in self.of("Command") if each.name == name]
        return found

    def pod(self, kind: str, name: str) -> Pod:
        return Pod(self(kind, name))

    def pods(self) -> list[Pod]:
        return [Pod(each) for each in self.resources if "template" in each.inputs.get("spec", {})]

    def waits_for(self, later: Resource, earlier: Resource) -> bool:
        """Whether one is made only after another, directly or by what is in between."""
        by_urn = {each.urn: each for each in self.resources}
        pending, seen = [later], set[str]()
        while pending:
            for urn in pending.pop().dependencies - seen:
                if urn == earlier.urn:
                    return True
                seen.add(urn)
                pending += [by_urn[urn]] if urn in by_urn else []
        return False


class Answers(pulumi.runtime.Mocks):
    """A Kubernetes that accepts everything, and commands that print what they were asked for."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        state = dict(args.inputs)
        if args.typ == "command:local:Command":
            state["stdout"] = _printed(args.inputs.get("create", ""))
        if args.typ == "kubernetes:apps/v1:StatefulSet":
            state["metadata"] = {**args.inputs["metadata"], "generation": 7}
        if args.typ == "kubernetes:core/v1:ConfigMap":
            state["metadata"] = {**args.inputs["metadata"], "resourceVersion": "41"}
        if args.typ == "kubernetes:core/v1:Service":
            state["status"] = {"loadBalancer": {}}
            if args.inputs["spec"].get("type") == "LoadBalancer":
                state["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.10"}]}}
            if args.inputs["spec"].get("type") == "NodePort":
                ports = [{"nodePort": 31234.0, **port} for port in args.inputs["spec"]["ports"]]
                state["spec"] = {**args.inputs["spec"], "ports": ports}
        return args.name, state

    def call(self, args: pulumi.runtime.MockCallArgs) -> NoReturn:
        raise AssertionError(f"nothing is looked up, but {args.token} was")


class Recorder(MockMonitor):
    """Takes down what a program asks the engine for, with the options that mocks are not told of."""

    def __init__(self) -> None:
        super().__init__(Answers())
        self.made: list[Resource] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 -- gRPC's name
        answer = super().RegisterResource(request)
        inputs = rpc.deserialize_properties(request.object)
        self.made.append(
            Resource(
                type=request.type,
                name=request.name,
                urn=answer.urn,
                parent=request.parent,
                provider=request.provider,
                inputs=_whole(inputs),
                dependencies=frozenset(request.dependencies),
                retained=request.retainOnDelete,
                ignored=frozenset(request.ignoreChanges),
                secret_outputs=frozenset(request.additionalSecretOutputs),
            )
        )
        return answer


# Before the components are imported, as some of their parts look for an engine.
pulumi.runtime.set_mocks(Answers(), monitor=Recorder())

from components.change import Change  # noqa: E402
from components.cluster import SlurmCluster  # noqa: E402


def deploy(change: Change | None = None, /, **keys: Any) -> Made:
    """Everything that a stack with these keys makes: `deploy(worker={"size": 2})`. Made once for each config."""
    return _deploy(json.dumps({**REGISTRY, **keys}), change)


def settings_of(**keys: Any) -> Settings:
    return Settings.load({f"slipway:{key}": json.dumps(value) for key, value in {**REGISTRY, **keys}.items()}, {})


@functools.cache
def _deploy(keys: str, change: Change | None) -> Made:
    recorder = Recorder()
    pulumi.runtime.set_mocks(Answers(), monitor=recorder, logger=logging.getLogger("slipway.mocks"))
    made = Made(settings_of(**json.loads(keys)))

    @pulumi.runtime.test
    def program() -> pulumi.Output[None]:
        cluster = SlurmCluster(made.settings.cluster.name, made.settings, change)
        return pulumi.Output.from_input(cluster.outputs).apply(made.outputs.update)  # pyright: ignore[reportArgumentType]

    program()
    made.resources = [each for each in recorder.made if each.type != "pulumi:pulumi:Stack"]
    return made


def key_text(command: str) -> str:
    """What a command that makes a key prints here: base64, and easy to find wherever it should not be."""
    return f"{command.replace(' ', '/')}/SECRET=="


def _printed(command: str) -> str:
    """A certificate comes with the one that signed it, and with its key."""
    text = key_text(command)
    return f"PUBLIC-CA {text} {text}" if " certificate " in command else text


def is_secret(value: Any) -> bool:
    return rpc.is_rpc_secret(value)


def plain(value: Any) -> Any:
    """A value as Kubernetes gets it, with nothing wrapped."""
    if is_secret(value):
        return plain(rpc.unwrap_rpc_secret(value))
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def leaves(value: Any) -> Iterator[str]:
    """Every text in a value that is not inside a secret."""
    if is_secret(value):
        return
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield str(value)


def _whole(value: Any) -> Any:
    """Numbers come as floats."""
    if isinstance(value, Mapping):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
