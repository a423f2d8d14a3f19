"""The engine's side of a plugin: messages on a resource, and the status line beside it while it is worked on."""

import threading

import grpc

from lab.plugins.protocol import engine_pb2, engine_pb2_grpc

INFO, WARNING = engine_pb2.INFO, engine_pb2.WARNING


class Engine:
    """Says things to the person at the terminal; never fails, for what it says is not worth an error."""

    def __init__(self, address: str = "") -> None:
        self._stub: engine_pb2_grpc.EngineStub | None = None
        self._last: dict[str, str] = {}
        self._lock = threading.Lock()
        if address:
            self.connect(address)

    def connect(self, address: str) -> None:
        self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def warn(self, message: str, urn: str = "") -> None:
        self._log(WARNING, message, urn)

    def status(self, message: str, urn: str) -> None:
        """Replace the resource's status line; the same line again is not sent again."""
        with self._lock:
            if self._last.get(urn, "") == message:
                return
            self._last[urn] = message
        self._log(INFO, message, urn, ephemeral=True)

    def _log(
        self, severity: "engine_pb2.LogSeverity.ValueType", message: str, urn: str, ephemeral: bool = False
    ) -> None:
        if self._stub is None:
            return
        request = engine_pb2.LogRequest(severity=severity, message=message, urn=urn, ephemeral=ephemeral)
        try:
            self._stub.Log(request, timeout=5)
        except grpc.RpcError:
            return  # the engine is going away
