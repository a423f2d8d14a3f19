"""`pulumi-resource-command`: the resource `command:local:Command` and the function `command:local:run`."""

import contextlib
import json
import secrets
import sys
from importlib.metadata import version
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2

from lab.plugins.command.inputs import changes, failures, shown, with_defaults
from lab.plugins.command.run import Command, CommandFailedError
from lab.plugins.protocol import engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2, provider_pb2_grpc
from lab.plugins.server import UNKNOWN, from_struct, has_unknown, plain, serve, to_struct

_RESOURCE = "command:local:Command"
_FUNCTION = "command:local:run"
_OUTPUTS = ("stdout", "stderr")
_LAST_GRACE = 3.0  # when the plugin has to end: the engine kills it after five seconds


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """The resource provider service. What it does not implement answers UNIMPLEMENTED, which the engine understands."""

    def __init__(self, engine: str) -> None:
        self._engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(engine)) if engine else None
        self._running: set[Command] = set()
        self._cancelled = False

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(request.address))
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version=version("pulumi-command"))

    def GetSchema(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        schema = {"name": "command", "version": version("pulumi-command")}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        _expect(request.urn, context)
        inputs = with_defaults(from_struct(request.news))
        problems = [provider_pb2.CheckFailure(property=name, reason=reason) for name, reason in failures(inputs)]
        return provider_pb2.CheckResponse(inputs=to_struct(inputs), failures=problems)

    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        found = dict(changes(from_struct(request.old_inputs), from_struct(request.news)))
        response = provider_pb2.DiffResponse
        kinds = provider_pb2.PropertyDiff.Kind
        return response(
            changes=response.DIFF_SOME if found else response.DIFF_NONE,
            diffs=sorted({_top(path) for path in found}),
            replaces=sorted({_top(path) for path, kind in found.items() if kind.endswith("_REPLACE")}),
            detailedDiff={
                path: provider_pb2.PropertyDiff(kind=kinds.Value(kind), inputDiff=True) for path, kind in found.items()
            },
            hasDetailedDiff=True,
        )

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        inputs = from_struct(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_struct(inputs | dict.fromkeys(_OUTPUTS, UNKNOWN)))
        outputs = self._run(inputs.get("create"), inputs, {}, request, context)
        name = request.urn.rsplit("::", 1)[-1]
        return provider_pb2.CreateResponse(id=name + secrets.token_hex(4), properties=to_struct(inputs | outputs))

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """A command leaves nothing to look at: the state is what there is."""
        return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        inputs = from_struct(request.news)
        if request.preview:
            return provider_pb2.UpdateResponse(properties=to_struct(inputs | dict.fromkeys(_OUTPUTS, UNKNOWN)))
        command = inputs.get("update", inputs.get("create"))  # without an `update`, the `create` runs again
        outputs = self._run(command, inputs, from_struct(request.olds), request, context)
        return provider_pb2.UpdateResponse(properties=to_struct(inputs | outputs))

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        state = from_struct(request.properties)
        self._run(state.get("delete"), state, state, request, context)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """`command:local:run`: runs at preview too, unless it does not know yet what to run."""
        if request.tok != _FUNCTION:
            _fail(context, f"this provider has no function {request.tok}, only {_FUNCTION}")
        inputs = with_defaults(from_struct(request.args))
        if problems := list(failures(inputs)):
            failed = [provider_pb2.CheckFailure(property=name, reason=reason) for name, reason in problems]
            return provider_pb2.InvokeResponse(failures=failed)
        if has_unknown(inputs):
            outputs: dict[str, Any] = dict.fromkeys(_OUTPUTS, UNKNOWN)
        else:
            outputs = self._run(inputs.get("command"), inputs, {}, request, context)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(inputs | outputs))  # a keyword in Python
        return response

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._cancelled = True
        for command in list(self._running):
            command.end("cancelled")
        return empty_pb2.Empty()

    def stop(self) -> None:
        """End all commands and what they have started."""
        self._cancelled = True
        running = list(self._running)
        for command in running:
            command.end("the engine is gone", _LAST_GRACE)
        for command in running:
            command.wait(_LAST_GRACE)

    def _run(
        self, line: Any, inputs: dict[str, Any], previous: dict[str, Any], request: Any, context: grpc.ServicerContext
    ) -> dict[str, Any]:
        """Run `line` and return its outputs; without one, the outputs stay those of `previous`."""
        if line is None:
            return {name: previous.get(name, "") for name in _OUTPUTS}
        command = Command.of(plain(line), shown(line), plain(inputs), plain(previous))
        self._running.add(command)
        if self._cancelled:
            command.end("cancelled")
        context.add_callback(lambda: command.end("the engine has hung up"))
        try:
            outputs = command.run(lambda text: self._log(getattr(request, "urn", ""), text), _timeout(request))
        except CommandFailedError as error:
            _fail(context, str(error))
        finally:
            self._running.discard(command)
        return dict(zip(_OUTPUTS, outputs, strict=True))

    def _log(self, urn: str, text: str) -> None:
        """Show a line beside the resource while it is worked on; like the official provider, not in the summary."""
        if self._engine and text.strip():
            request = engine_pb2.LogRequest(severity=engine_pb2.INFO, message=text, urn=urn, ephemeral=True)
            with contextlib.suppress(grpc.RpcError):  # the engine is going away; the command's result says the rest
                self._engine.Log(request)


def _expect(urn: str, context: grpc.ServicerContext) -> None:
    kind = urn.split("::")[2].split("$")[-1]
    if kind != _RESOURCE:
        _fail(context, f"this provider has no {kind}, only {_RESOURCE}: use the official plugin for it")


def _top(path: str) -> str:
    return path.split(".")[0].split("[")[0]


def _timeout(request: Any) -> float:
    return getattr(request, "timeout", 0.0)


def _fail(context: grpc.ServicerContext, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort always raises")


def main() -> None:
    provider = Provider(sys.argv[-1] if len(sys.argv) > 1 else "")
    serve(
        "command",
        lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server),
        provider.stop,
    )


if __name__ == "__main__":
    main()
