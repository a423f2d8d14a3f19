"""The provider as such: who it is, its settings, and when a changed setting means another cluster."""

import json
from importlib.metadata import version
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import status_pb2

from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.connection import Connection, NoCluster
from lab.plugins.kubernetes.diff import differences
from lab.plugins.kubernetes.engine import Engine
from lab.plugins.kubernetes.options import UNSUPPORTED, Options, active_cluster, options
from lab.plugins.kubernetes.watching import Cancellation
from lab.plugins.protocol import plugin_pb2, provider_pb2, provider_pb2_grpc
from lab.plugins.server import UNKNOWN, from_struct, plain

_PREFIX = "kubernetes:config:"
_WHICH_CLUSTER = ("kubeconfig", "context", "cluster")
_IDENTIFIER = "clusterIdentifier"


class Configured(provider_pb2_grpc.ResourceProviderServicer):
    """Everything about the provider that is not about a resource."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.cancellation = Cancellation()
        self.options = Options()
        self.connection = Connection(self.options)
        self._warned = False

    def cluster_if_reachable(self) -> Cluster | None:
        """The cluster, or None after one warning: a preview can do without."""
        try:
            return self.connection.cluster()
        except NoCluster as problem:
            if not self._warned:
                self._warned = True
                self.engine.warn(f"{problem}\nWhat is shown comes from the program and the state alone.")
            return None

    def Handshake(self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext):  # noqa: N802
        if request.engine_address:
            self.engine.connect(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    def Attach(self, request: plugin_pb2.PluginAttach, context: grpc.ServicerContext):  # noqa: N802
        self.engine.connect(request.address)
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext):  # noqa: N802
        return plugin_pb2.PluginInfo(version=version("pulumi-kubernetes"))

    def GetSchema(self, request: provider_pb2.GetSchemaRequest, context: grpc.ServicerContext):  # noqa: N802
        """The engine wants a schema for a few side paths; the types themselves are in the SDK."""
        schema = {"name": "kubernetes", "version": version("pulumi-kubernetes")}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    def GetMapping(self, request: provider_pb2.GetMappingRequest, context: grpc.ServicerContext):  # noqa: N802
        return provider_pb2.GetMappingResponse()

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext):  # noqa: N802
        self.cancellation.cancel()
        return empty_pb2.Empty()

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext):  # noqa: N802
        message = f"{request.tok} is not supported by the lab's Kubernetes plugin: it needs the real one"
        fail(context, grpc.StatusCode.UNIMPLEMENTED, message)

    def Construct(self, request: provider_pb2.ConstructRequest, context: grpc.ServicerContext):  # noqa: N802
        message = f"{request.type} is not supported by the lab's Kubernetes plugin: it needs the real one"
        fail(context, grpc.StatusCode.UNIMPLEMENTED, message)

    def CheckConfig(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext):  # noqa: N802
        settings = plain(from_struct(request.news))
        failures = [
            provider_pb2.CheckFailure(property=name, reason=why)
            for name, why in UNSUPPORTED.items()
            if settings.get(name)
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext):  # noqa: N802
        old = plain(from_struct(request.old_inputs if request.HasField("old_inputs") else request.olds))
        new = plain(from_struct(request.news))
        changed = sorted({str(item.path[0]) for item in differences(old, new)})
        replaces = _replaces(old, new, changed)
        kind = provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=kind, diffs=changed, replaces=replaces)

    def Configure(self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext):  # noqa: N802
        settings = {key.removeprefix(_PREFIX): value for key, value in request.variables.items()}
        try:
            self.options = options(settings)
        except (ValueError, AttributeError) as error:
            fail(context, grpc.StatusCode.INVALID_ARGUMENT, f"the provider's settings cannot be read: {error}")
        self.connection = Connection(self.options)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )


def _replaces(old: dict[str, Any], new: dict[str, Any], changed: list[str]) -> list[str]:
    """The settings that now point at another cluster, so that everything in the old one must be made anew."""
    if old.get(_IDENTIFIER) and new.get(_IDENTIFIER):
        # Given on both sides it alone decides.
        return [_IDENTIFIER] if _IDENTIFIER in changed else []
    if unknown := [key for key in _WHICH_CLUSTER if new.get(key) is UNKNOWN]:
        return unknown  # it may be another one
    before, after = active_cluster(old), active_cluster(new)
    if before is None or after is None or before == after:
        return []
    return [key for key in _WHICH_CLUSTER if key in changed]


def fail(
    context: grpc.ServicerContext,
    code: grpc.StatusCode,
    message: str,
    detail: provider_pb2.ErrorResourceInitFailed | None = None,
) -> NoReturn:
    """End the call with an error; `detail` tells the engine that the object exists nevertheless."""
    if detail is not None:
        packed = AnyMessage()
        packed.Pack(detail)
        status = status_pb2.Status(code=code.value[0], message=message, details=[packed])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, message)
    raise AssertionError("abort raises")
