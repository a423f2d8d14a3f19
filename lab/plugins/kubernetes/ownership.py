"""Who manages which field: reads and mends `metadata.managedFields`, the books of server-side apply."""

import json
from typing import Any

from lab.plugins.kubernetes.objects import Object, dig

# Managers whose fields belong to whoever applies next: kubectl, and this provider without server-side apply.
_YIELDING = ("kubectl", "before-first-apply", "pulumi-kubernetes", "pulumi-resource-kubernetes")


def managers(obj: Object) -> list[Object]:
    return dig(obj, "metadata", "managedFields", default=[])


def fields(obj: Object, manager: str, operation: str | None = None) -> dict[str, Any]:
    """The FieldsV1 tree of one manager; empty if it manages nothing."""
    merged: dict[str, Any] = {}
    for entry in managers(obj):
        if entry.get("manager") == manager and operation in (None, entry.get("operation")):
            merged = _merge(merged, entry.get("fieldsV1") or {})
    return merged


def others(obj: Object, manager: str) -> dict[str, Any]:
    """The FieldsV1 tree of everybody else."""
    merged: dict[str, Any] = {}
    for entry in managers(obj):
        if entry.get("manager") != manager:
            merged = _merge(merged, entry.get("fieldsV1") or {})
    return merged


def has(tree: dict[str, Any], path: tuple[str | int, ...]) -> bool:
    """Whether `path`, made of field names only, is in the tree."""
    for part in path:
        if f"f:{part}" not in tree:
            return False
        tree = tree[f"f:{part}"]
    return True


def applied(obj: Object) -> Object | None:
    """What was sent to the server to get `obj`: all that is managed by server-side apply; None if nothing is."""
    merged: dict[str, Any] = {}
    for entry in managers(obj):
        if entry.get("operation") == "Apply" and not entry.get("subresource"):
            merged = _merge(merged, entry.get("fieldsV1") or {})
    return _prune(obj, merged) if merged else None


def adoption(live: Object, manager: str) -> list[Object] | None:
    """A JSON patch that hands the fields of yielding managers to `manager`; None if there are none.

    Without it a field that kubectl has once set would conflict, or stay when the program no longer has it.
    """
    kept, taken = [], {}
    mine: Object | None = None
    for entry in managers(live):
        if entry.get("subresource"):
            kept.append(entry)
        elif entry.get("manager") == manager and entry.get("operation") == "Apply":
            mine = entry
        elif _yields(entry, manager):
            taken = _merge(taken, entry.get("fieldsV1") or {})
        else:
            kept.append(entry)
    if not taken:
        return None
    base = mine or {"apiVersion": live["apiVersion"], "fieldsType": "FieldsV1"}
    own = base | {
        "manager": manager,
        "operation": "Apply",
        "fieldsV1": _merge(dig(base, "fieldsV1", default={}), taken),
    }
    return [
        # Fails if the object has changed meanwhile, instead of writing over somebody else's books.
        {"op": "test", "path": "/metadata/resourceVersion", "value": dig(live, "metadata", "resourceVersion")},
        {"op": "replace", "path": "/metadata/managedFields", "value": [own, *kept]},
    ]


def _yields(entry: Object, manager: str) -> bool:
    name = entry.get("manager", "")
    if name.startswith("kubectl") or name == "before-first-apply":
        return True
    return entry.get("operation") == "Update" and (name in _YIELDING or name == manager)


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for key, value in other.items():
        merged[key] = _merge(merged[key], value) if key in merged else value
    return merged


def _prune(value: Any, tree: dict[str, Any]) -> Any:
    """What of `value` is in the tree."""
    if not tree:
        return value
    if isinstance(value, dict):
        names = [key.removeprefix("f:") for key in tree if key.startswith("f:")]
        return {name: _prune(value[name], tree[f"f:{name}"]) for name in names if name in value}
    if isinstance(value, list):
        return [item for element in value if (item := _element(element, tree)) is not None]
    return value


def _element(element: Any, tree: dict[str, Any]) -> Any:
    """An element of a list, if the tree has it: by its keys (`k:`) or by its value (`v:`)."""
    for key, inner in tree.items():
        form, _, text = key.partition(":")
        if form == "k" and isinstance(element, dict):
            keys = json.loads(text)
            if all(element.get(name) == wanted for name, wanted in keys.items()):
                return _prune(element, inner) | keys
        if form == "v" and json.loads(text) == element:
            return element
    return None
