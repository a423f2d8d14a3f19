"""Find an object on the API server, and tell how it is."""

from lab.plugins.kubernetes import ownership
from lab.plugins.kubernetes.client import ApiError
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.diagnose import explain
from lab.plugins.kubernetes.discovery import NoSuchKind
from lab.plugins.kubernetes.inputs import canonical
from lab.plugins.kubernetes.kinds import of_token
from lab.plugins.kubernetes.objects import Object, dig, namespace_of, split_id, title
from lab.plugins.kubernetes.waiting import look, readiness


def wanted(token: str, resource_id: str, inputs: Object, before: Object) -> Object:
    """Which object a type token and an id (`namespace/name`) mean."""
    namespace, name = split_id(resource_id)
    api_version, kind = of_token(token)
    metadata = {"name": name, "namespace": namespace or namespace_of(before)}
    return {"apiVersion": dig(inputs, "apiVersion", default=api_version), "kind": kind, "metadata": metadata}


def find(cluster: Cluster, obj: Object) -> Object | None:
    """The live object; None if it is gone, or its kind is."""
    try:
        return cluster.read(canonical(obj, obj, cluster))
    except NoSuchKind:
        return None
    except ApiError as error:
        if error.not_found:
            return None
        raise


def trouble(cluster: Cluster, live: Object, inputs: Object) -> str:
    """Why an object that is there is not ready; empty if it is."""
    rule = readiness(live | {"metadata": dig(inputs, "metadata", default={})})
    said = look(cluster, live, rule) if rule else None
    if said is None or said.ready:
        return ""
    lines = [f"{title(live)} is not ready: {said.failure or said.line()}", *explain(cluster, live)]
    return "\n  ".join(lines)


def applier(live: Object) -> str:
    """The manager under which an imported object was applied before, if it was by this provider."""
    for entry in ownership.managers(live):
        if entry.get("operation") == "Apply" and str(entry.get("manager", "")).startswith("pulumi-kubernetes-"):
            return str(entry["manager"])
    return ""
