"""The gRPC stubs that the engine and its plugins speak, taken from the `pulumi` wheel without the SDK around them.

`import pulumi.runtime.proto` alone runs the whole SDK first, which takes more than half of a plugin's start-up time.
A plugin needs none of it, so bare packages stand in for `pulumi` and `pulumi.runtime` unless the SDK is there already.
Import the stubs from here, never from `pulumi`.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def _stand_in() -> None:
    spec = importlib.util.find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the `pulumi` wheel is not installed beside these plugins: run `make` to install it")
    root = Path(spec.submodule_search_locations[0])
    for name, path in (("pulumi", root), ("pulumi.runtime", root / "runtime")):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


if "pulumi" not in sys.modules:
    _stand_in()

from pulumi.runtime.proto import (  # noqa: E402
    engine_pb2,
    engine_pb2_grpc,
    errors_pb2,
    language_pb2,
    language_pb2_grpc,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
)

__all__ = [
    "engine_pb2",
    "engine_pb2_grpc",
    "errors_pb2",
    "language_pb2",
    "language_pb2_grpc",
    "plugin_pb2",
    "provider_pb2",
    "provider_pb2_grpc",
]
