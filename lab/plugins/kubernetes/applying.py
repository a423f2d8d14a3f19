"""The requests that write an object: server-side apply, and create with merge patch where that is switched off."""

from typing import Any

from lab.plugins.kubernetes.client import APPLY, MERGE, ApiError
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.objects import Object, dig, full_name, name_of, title

Applied = Object

PLAIN_MANAGER = "pulumi-kubernetes"
_CONFLICT_TRIES = 4


class AlreadyExists(Exception):  # noqa: N818  what the API server would say
    """There is such an object already, and it is not this resource's."""

    def __init__(self, found: Object) -> None:
        super().__init__(
            f"{title(found)} already exists. Import it (`pulumi import`, or the resource option `import_` with the id "
            f"{full_name(found)}), or use an alias if the resource was renamed, or choose another name; the provider "
            "option upsertExistingObjects takes over whatever is there"
        )


class FieldConflict(Exception):  # noqa: N818
    """Another manager owns a field with another value."""

    def __init__(self, obj: Object, manager: str, error: ApiError) -> None:
        causes = [cause.get("message", "") + f": {cause.get('field', '')}" for cause in error.details.get("causes", [])]
        super().__init__(
            f"field conflict on {title(obj)}, applied as {manager!r}: somebody else manages what the program sets.\n"
            + "".join(f"  {cause}\n" for cause in causes or [error.message])
            + "Leave the field out (or to `ignoreChanges`), or take it over with the annotation "
            + 'pulumi.com/patchForce: "true"'
        )


def apply(cluster: Cluster, obj: Object, manager: str, *, force: bool, dry_run: bool = False) -> Applied:
    """Server-side apply."""
    resource = cluster.discovery.of(obj)
    if not resource.namespaced:
        obj = _outside_namespaces(obj)
    params = {
        "fieldManager": manager,
        "force": "true" if force else "false",
        "fieldValidation": "Strict",
        "dryRun": "All" if dry_run else None,
    }
    path = cluster.discovery.path(obj)
    for attempt in range(1, _CONFLICT_TRIES + 1):
        try:
            return cluster.client.request("PATCH", path, params=params, body=obj, content_type=APPLY)
        except ApiError as error:
            if error.status != 409:
                raise
            if error.details.get("causes"):
                raise FieldConflict(obj, manager, error) from error
            if attempt == _CONFLICT_TRIES:  # the object changes faster than the server can merge
                raise
    raise AssertionError("the last attempt returns or raises")


def post(cluster: Cluster, obj: Object, manager: str, *, dry_run: bool = False) -> Applied:
    """Plain create, which the server refuses if there is such an object already."""
    resource = cluster.discovery.of(obj)
    if not resource.namespaced:
        obj = _outside_namespaces(obj)
    params = {"fieldManager": manager, "fieldValidation": "Strict", "dryRun": "All" if dry_run else None}
    try:
        return cluster.client.request("POST", cluster.collection(obj), params=params, body=obj)
    except ApiError as error:
        if error.reason == "AlreadyExists":
            raise AlreadyExists(obj) from error
        raise


def merge_patch(cluster: Cluster, old: Object, new: Object, manager: str, *, dry_run: bool = False) -> Applied:
    """Change what the program changed, and leave the rest as it is."""
    params = {"fieldManager": manager, "fieldValidation": "Strict", "dryRun": "All" if dry_run else None}
    patch = _patch(old, new)
    path = cluster.discovery.path(new, name_of(new) or name_of(old))
    return cluster.client.request("PATCH", path, params=params, body=patch, content_type=MERGE)


def _patch(old: Any, new: Any) -> Any:
    """A JSON merge patch: null takes away, lists are replaced as a whole."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    patch = {key: None for key in old if key not in new}
    return patch | {key: _patch(old.get(key), value) for key, value in new.items() if value != old.get(key)}


def _outside_namespaces(obj: Object) -> Object:
    """A kind whose definition was not there at check got a namespace by default, which it does not have."""
    metadata = {key: value for key, value in dig(obj, "metadata", default={}).items() if key != "namespace"}
    return obj | {"metadata": metadata}
