"""Which kinds the API server knows: apiVersion and kind to REST path, asked once per group version."""

import threading
from dataclasses import dataclass
from urllib.parse import quote

from lab.plugins.kubernetes.client import ApiError, Client
from lab.plugins.kubernetes.objects import Object, dig, group_version, kind_of, name_of, namespace_of


class NoSuchKind(Exception):  # noqa: N818  it is what the API server says
    """The API server has no such kind: the CustomResourceDefinition is missing, or not registered yet."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(
            f"the API server knows no {kind} in {api_version}: create the CustomResourceDefinition first "
            "(and let this resource depend on it), or correct apiVersion and kind"
        )


@dataclass(frozen=True)
class Resource:
    """One kind as the REST API has it."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of one object, or of the collection without `name`; without `namespace`, of all namespaces."""
        parts = ["apis" if "/" in self.api_version else "api", self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/" + "/".join(parts)


PODS = Resource("v1", "Pod", "pods", True)
EVENTS = Resource("v1", "Event", "events", True)
ENDPOINT_SLICES = Resource("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", True)
REPLICA_SETS = Resource("apps/v1", "ReplicaSet", "replicasets", True)
STORAGE_CLASSES = Resource("storage.k8s.io/v1", "StorageClass", "storageclasses", False)


class Discovery:
    """What one API server serves; a group version without the kind asked for is asked again, for it may have grown."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, dict[str, Resource]] = {}
        self._lock = threading.Lock()

    def resource(self, api_version: str, kind: str) -> Resource:
        """The kind, or `NoSuchKind`."""
        api_version = api_version.removeprefix("core/")
        with self._lock:
            found = self._known.get(api_version, {}).get(kind)
            if found is None:
                self._known[api_version] = self._ask(api_version)
                found = self._known[api_version].get(kind)
        if found is None:
            raise NoSuchKind(api_version, kind)
        return found

    def of(self, obj: Object) -> Resource:
        return self.resource(str(dig(obj, "apiVersion", default="")), kind_of(obj))

    def path(self, obj: Object, name: str = "") -> str:
        """Where `obj` is on the API server."""
        return self.of(obj).path(namespace_of(obj), name or name_of(obj))

    def exists(self, obj: Object) -> bool:
        try:
            return bool(self.of(obj))
        except NoSuchKind:
            return False

    def forget(self) -> None:
        """A CustomResourceDefinition has come, changed or gone."""
        with self._lock:
            self._known.clear()

    def _ask(self, api_version: str) -> dict[str, Resource]:
        group, version = group_version(api_version)
        if not version:
            return {}
        try:
            listed = self._client.get(f"/apis/{group}/{version}" if group else f"/api/{version}")
        except ApiError as error:
            if error.not_found:
                return {}
            raise
        return {
            item["kind"]: Resource(api_version, item["kind"], item["name"], item["namespaced"])
            for item in listed.get("resources", [])
            # scale, status and other subresources have a slash in their name, and kinds of other groups
            if "/" not in item["name"]
        }
