"""What a create would give, asked of the API server by a dry run; None where it cannot be asked yet."""

from collections.abc import Callable
from typing import Any

from lab.plugins.kubernetes.applying import apply, post
from lab.plugins.kubernetes.client import ApiError
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.discovery import NoSuchKind
from lab.plugins.kubernetes.names import unique
from lab.plugins.kubernetes.objects import Object, dig, group_of, kind_of, name_of, namespace_of
from lab.plugins.server import UNKNOWN

_MADE_BY_SERVER = ("creationTimestamp", "generation", "resourceVersion", "uid")
# Objects whose name follows from their content, so that they cannot be tried under another one.
_FIXED_NAMES = {("apiextensions.k8s.io", "CustomResourceDefinition"), ("apiregistration.k8s.io", "APIService")}
_SOMEWHERE = "default"  # a namespace that every cluster has


def preview_create(
    cluster: Cluster, inputs: Object, manager: str, on_found: Callable[[Object], None], *, server_side_apply: bool
) -> Object | None:
    """The object as it would be; raises what the API server has against it. `on_found` hears of one that exists."""
    try:
        if not server_side_apply:
            return _only_if_possible(lambda: post(cluster, inputs, manager, dry_run=True))
        if found := _existing(cluster, inputs):
            on_found(found)
            return _elsewhere(cluster, inputs, manager, namespace_of(inputs))
        return _only_if_possible(lambda: apply(cluster, inputs, manager, force=True, dry_run=True))
    except NoSuchKind:
        return None
    except ApiError as error:
        if error.namespace_missing and server_side_apply:
            return _elsewhere(cluster, inputs, manager, _SOMEWHERE)
        if error.not_found:
            return None
        raise


def unmade(properties: dict[str, Any]) -> dict[str, Any]:
    """The inputs as the outputs of an object that the server could not be asked about."""
    metadata = properties.get("metadata")
    if not isinstance(metadata, dict):
        return properties
    return properties | {"metadata": metadata | dict.fromkeys(_MADE_BY_SERVER, UNKNOWN)}


def masked(previewed: Object, inputs: Object) -> Object:
    """A previewed object without what a dry run makes up: those values are unknown until it is really created."""
    masked = {key: value for key, value in previewed.items() if key != "status"}
    metadata = {key: value for key, value in dig(previewed, "metadata", default={}).items() if key != "managedFields"}
    masked["metadata"] = metadata | {key: UNKNOWN for key in _MADE_BY_SERVER if key in metadata}
    if (group_of(inputs), kind_of(inputs)) == ("", "Service"):
        masked["spec"] = _service(dig(masked, "spec", default={}), dig(inputs, "spec", default={}))
    return masked


def _service(spec: Object, given: Object) -> Object:
    """Addresses and ports that the cluster allocates, unless the program asks for certain ones."""
    unknown: Object = {key: UNKNOWN for key in ("clusterIP", "healthCheckNodePort") if key in spec and key not in given}
    if "clusterIP" not in given and "clusterIPs" in spec:
        unknown["clusterIPs"] = [UNKNOWN for _ in spec["clusterIPs"]]
    ports = [
        port if "nodePort" not in port or "nodePort" in asked else port | {"nodePort": UNKNOWN}
        for port, asked in zip(spec.get("ports", []), given.get("ports", []), strict=False)
    ]
    return spec | unknown | ({"ports": ports} if ports else {})


def _existing(cluster: Cluster, inputs: Object) -> Object | None:
    try:
        return cluster.read(inputs)
    except ApiError as error:
        if error.not_found or error.status == 403:
            return None
        raise


def _elsewhere(cluster: Cluster, inputs: Object, manager: str, namespace: str) -> Object | None:
    """Try it under another name, and in another namespace if its own is yet to come.

    The object that it replaces is still there and would be in the way. What only concerns the place is no objection.
    """
    if (group_of(inputs), kind_of(inputs)) in _FIXED_NAMES:
        return None
    metadata = dig(inputs, "metadata", default={})
    stand_in: dict[str, Any] = {"name": unique(f"{name_of(inputs)[:40].rstrip('-.')}-preview-")}
    if namespace:
        stand_in["namespace"] = namespace
    try:
        found = apply(cluster, inputs | {"metadata": metadata | stand_in}, manager, force=True, dry_run=True)
    except ApiError as error:
        error.message = error.message.replace(stand_in["name"], name_of(inputs))
        if _is_objection(error):
            raise
        return None
    own = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    return found | {"metadata": dig(found, "metadata", default={}) | own}


def _is_objection(error: ApiError) -> bool:
    """Whether it is about the object itself: malformed or invalid, rather than an address taken by its predecessor."""
    if error.status == 422:
        return "already allocated" not in error.message
    return error.status in (400, 500)


def _only_if_possible(dry_run: Callable[[], Object]) -> Object | None:
    try:
        return dry_run()
    except ApiError as error:
        if error.status == 403 or (error.status == 400 and "does not support dry run" in error.message):
            return None
        raise
