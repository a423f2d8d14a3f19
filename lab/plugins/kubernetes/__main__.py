"""Started by the Pulumi engine as `pulumi-resource-kubernetes <engine address>`."""

import sys

import grpc

from lab.plugins.kubernetes.engine import Engine
from lab.plugins.kubernetes.provider import Provider
from lab.plugins.protocol import provider_pb2_grpc
from lab.plugins.server import serve


def main() -> None:
    provider = Provider(Engine(sys.argv[1] if len(sys.argv) > 1 else ""))

    def add(server: grpc.Server) -> None:
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)

    serve("kubernetes", add, on_stop=provider.cancellation.cancel)


if __name__ == "__main__":
    main()
