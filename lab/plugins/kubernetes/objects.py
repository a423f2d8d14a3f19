"""Small readings of a Kubernetes object held as a dict: its name, its id, its annotations."""

from typing import Any

Object = dict[str, Any]

# Written by the API server and never meant by a program, in whatever it sends.
READ_ONLY_METADATA = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
)


def dig(value: Any, *path: str, default: Any = None) -> Any:
    """The value below `path`, or `default` where any step is missing or no mapping (an unknown has nothing below)."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return default
        value = value[key]
    return default if value is None else value


def name_of(obj: Object) -> str:
    name = dig(obj, "metadata", "name", default="")
    return name if isinstance(name, str) else ""


def namespace_of(obj: Object) -> str:
    namespace = dig(obj, "metadata", "namespace", default="")
    return namespace if isinstance(namespace, str) else ""


def kind_of(obj: Object) -> str:
    return str(dig(obj, "kind", default=""))


def group_of(obj: Object) -> str:
    """The API group, empty for the core group."""
    return group_version(str(dig(obj, "apiVersion", default="")))[0]


def group_version(api_version: str) -> tuple[str, str]:
    """`apps/v1` as ("apps", "v1"), `v1` as ("", "v1")."""
    group, _, version = api_version.rpartition("/")
    return ("" if group == "core" else group), version


def annotation(obj: Object, key: str) -> str | None:
    value = dig(obj, "metadata", "annotations", key)
    return value if isinstance(value, str) else None


def is_true(obj: Object, key: str) -> bool:
    """Whether the annotation `key` says "true"."""
    return annotation(obj, key) == "true"


def full_name(obj: Object) -> str:
    """namespace/name, or the name alone outside namespaces: the resource's id in Pulumi."""
    return f"{namespace_of(obj)}/{name_of(obj)}" if namespace_of(obj) else name_of(obj)


def title(obj: Object) -> str:
    """How messages call an object: `StatefulSet slurm/worker`."""
    return f"{kind_of(obj)} {full_name(obj)}"


def split_id(resource_id: str) -> tuple[str, str]:
    """A Pulumi id as (namespace, name); the namespace is empty where the id has none."""
    namespace, _, name = resource_id.rpartition("/")
    return namespace, name


def items_of(listed: Object) -> list[Object]:
    """The items of a list, each with the apiVersion and kind that the API server writes only on the list."""
    own = {"apiVersion": listed.get("apiVersion", ""), "kind": listed.get("kind", "").removesuffix("List")}
    return [own | item for item in listed.get("items") or []]


def conditions_of(obj: Object) -> dict[str, Object]:
    """status.conditions by type."""
    conditions = dig(obj, "status", "conditions", default=[])
    return {item.get("type", ""): item for item in conditions if isinstance(item, dict)}


def without_nulls(value: Any) -> Any:
    """`value` without the keys that are null, at any depth: the SDK sends null for what the program left out."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
