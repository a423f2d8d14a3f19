"""One cluster as the rest of the provider sees it: its REST client, its kinds, and the default namespace."""

from dataclasses import dataclass

from lab.plugins.kubernetes.client import Client
from lab.plugins.kubernetes.discovery import Discovery
from lab.plugins.kubernetes.kubeconfig import Access
from lab.plugins.kubernetes.objects import Object, namespace_of


@dataclass(frozen=True)
class Cluster:
    client: Client
    discovery: Discovery
    namespace: str

    def read(self, obj: Object) -> Object:
        """The live object."""
        return self.client.get(self.discovery.path(obj))

    def collection(self, obj: Object) -> str:
        """Where objects of this kind are, in the namespace of `obj`."""
        return self.discovery.of(obj).path(namespace_of(obj))


def connect(access: Access, read_timeout: float | None = None) -> Cluster:
    """A cluster that has answered; raises `Unreachable`, `ApiError` or `KubeconfigError`."""
    client = Client(access, read_timeout)
    discovery = Discovery(client)
    discovery.resource("v1", "Namespace")  # asks the server something that it answers only to users it knows
    return Cluster(client, discovery, access.namespace)
