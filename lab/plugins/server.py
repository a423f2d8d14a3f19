"""What the plugins share: how a plugin process lives and dies, and the engine's values as Python values.

The engine starts a plugin in a process group of its own, reads the port from the first line of stdout, and keeps a
pipe open to its stdin. To end it, it calls `Cancel`, sends SIGINT to the group and, after five seconds, SIGKILL. When
the engine itself dies, the pipe closes: that is how a plugin notices, and then it ends too instead of living on.
"""

import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Mapping
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import struct_pb2

# The limit of the engine's own server: manifests and command output can be large.
_MESSAGE_LIMIT = 400 * 1024 * 1024
_WORKERS = 64  # `pulumi up --parallel` is rarely above 32, and Cancel must always find a free one

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  the mark of a secret, not one
_UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWNS = {
    _UNKNOWN_STRING,
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
    "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
    "e48ece36-62e2-4504-bad9-02848725956a",  # archive
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
}


def serve(name: str, add: Callable[[grpc.Server], None], on_stop: Callable[[], None] | None = None) -> None:
    """Serve the plugin `name` until the engine ends it or is gone; `add` registers its service.

    `on_stop` ends what the plugin has started. The process exits without waiting for calls that are still running.
    """
    server = grpc.server(
        futures.ThreadPoolExecutor(_WORKERS, thread_name_prefix=name),
        options=[("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT)],
    )
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    ended = _on_signals()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()

    _wait(ended)
    if on_stop:
        on_stop()
    server.stop(grace=0.2).wait()
    sys.stdout.flush()
    sys.stderr.flush()
    # A worker may still wait for something slow; the interpreter would join it before it exits.
    os._exit(0)


def _on_signals() -> int:
    """Turn the signals that end a plugin into bytes on a pipe; returns the end to read."""
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return ended


def _wait(ended: int) -> None:
    """Return when a signal has arrived or the engine's end of stdin is closed."""
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    stdin = 0
    # Anything but a pipe was not opened by the engine: a terminal or /dev/null when somebody starts it by hand.
    if stat.S_ISFIFO(os.fstat(stdin).st_mode):
        poll.register(stdin, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == ended or not os.read(stdin, 4096):
                return


class Unknown:
    """A value that the engine will know only after an update; there is one instance, `UNKNOWN`."""

    def __repr__(self) -> str:
        return "<unknown>"

    def __copy__(self) -> "Unknown":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Unknown":
        return self


UNKNOWN = Unknown()


class Secret:
    """A value that must not be shown; two are equal if their values are, and `repr` keeps it to itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<secret>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.value == other.value

    __hash__ = None  # pyright: ignore[reportAssignmentType]  values are dicts and lists


def from_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The engine's properties as a dict; integral numbers become int."""
    return {key: _from_value(value) for key, value in struct.fields.items()}


def to_struct(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """A dict as the engine's properties."""
    struct = struct_pb2.Struct()
    for key, value in properties.items():
        struct.fields[key].CopyFrom(_to_value(value))
    return struct


def _from_value(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "string_value":
            return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "list_value":
            return [_from_value(item) for item in value.list_value.values]
        case "struct_value":
            fields = value.struct_value.fields
            if _SIGNATURE in fields and fields[_SIGNATURE].string_value == _SECRET:
                return Secret(_from_value(fields["value"]))
            return from_struct(value.struct_value)
        case _:
            return None


def _to_value(value: Any) -> struct_pb2.Value:
    match value:
        case None:
            return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
        case Unknown():
            return struct_pb2.Value(string_value=_UNKNOWN_STRING)
        case Secret():
            return _to_value({_SIGNATURE: _SECRET, "value": value.value})
        case bool():
            return struct_pb2.Value(bool_value=value)
        case int() | float():
            return struct_pb2.Value(number_value=value)
        case str():
            return struct_pb2.Value(string_value=value)
        case Mapping():
            return struct_pb2.Value(struct_value=to_struct(value))
        case list() | tuple():
            return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_to_value(item) for item in value]))
        case _:
            raise TypeError(f"{type(value).__name__} is no value that the engine knows")


def plain(value: Any) -> Any:
    """`value` without its Secret wrappers, at any depth."""
    match value:
        case Secret():
            return plain(value.value)
        case Mapping():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return value


def has_unknown(value: Any) -> bool:
    """Whether any part of `value` is unknown."""
    return _any(value, Unknown)


def has_secret(value: Any) -> bool:
    """Whether any part of `value` is secret."""
    return _any(value, Secret)


def _any(value: Any, kind: type) -> bool:
    if isinstance(value, kind):
        return True
    match value:
        case Secret():
            return _any(value.value, kind)
        case Mapping():
            return any(_any(item, kind) for item in value.values())
        case list() | tuple():
            return any(_any(item, kind) for item in value)
        case _:
            return False
