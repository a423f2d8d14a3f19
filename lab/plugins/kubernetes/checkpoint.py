"""How a resource is stored: the live object, the inputs it came from, and what of it is secret."""

from typing import Any

from lab.plugins.kubernetes.objects import Object, dig, kind_of, without_nulls
from lab.plugins.server import Secret, has_secret, plain

INPUTS = "__inputs"
INITIAL_API_VERSION = "__initialApiVersion"
FIELD_MANAGER = "__fieldManager"

Properties = dict[str, Any]

# The SDKs have no names with dashes, so these fields of a CustomResourceDefinition's schema are spelled differently.
_DASHED = {
    f"x_kubernetes_{name.replace('-', '_')}": f"x-kubernetes-{name}"
    for name in (
        "embedded-resource",
        "int-or-string",
        "list-map-keys",
        "list-type",
        "map-type",
        "preserve-unknown-fields",
        "validations",
    )
}
_UNDERSCORED = {dashed: underscored for underscored, dashed in _DASHED.items()}


def to_object(properties: Properties) -> Object:
    """The engine's properties as the API server takes them: plain, without nulls, in Kubernetes' spelling."""
    obj = without_nulls(plain(properties))
    return _respell(obj, _DASHED) if kind_of(obj) == "CustomResourceDefinition" else obj


def to_properties(obj: Object, source: Properties, *, same_shape: bool = False) -> Properties:
    """An object for the engine, with all that is secret in `source` secret here too.

    With `same_shape` the elements of lists are in the places that they have in `source`.
    """
    if kind_of(obj) == "CustomResourceDefinition":
        obj = _respell(obj, _UNDERSCORED)
    return _mark(obj, source, same_shape)


def checkpoint(live: Object, inputs: Object, source: Properties, field_manager: str, api_version: str) -> Properties:
    """What is stored after each operation."""
    state = to_properties(live, source)
    state[INPUTS] = to_properties(inputs, source)
    state[INITIAL_API_VERSION] = api_version
    state[FIELD_MANAGER] = field_manager
    return state


def live_of(state: Properties) -> Object:
    """The live object as it was when `state` was stored."""
    return to_object({key: value for key, value in state.items() if not key.startswith("__")})


def inputs_of(state: Properties) -> Object:
    return to_object(plain(state.get(INPUTS)) or {})


def field_manager_of(state: Properties) -> str:
    return str(plain(state.get(FIELD_MANAGER)) or "")


def api_version_of(state: Properties, inputs: Object) -> str:
    return str(plain(state.get(INITIAL_API_VERSION)) or dig(inputs, "apiVersion", default=""))


def _mark(value: Any, source: Any, same_shape: bool) -> Any:
    """`value` with secrets where `source` has them.

    Mappings are marked key by key, so that one secret does not hide the whole object; a list with a secret in it is
    secret as a whole, unless its elements are known to be in the same order here.
    """
    if not has_secret(source):
        return _mark_kind(value)
    if isinstance(value, dict) and isinstance(source, dict):
        marked = {key: _mark(item, source.get(key), same_shape) for key, item in value.items()}
        return _mark_kind(marked)
    if same_shape and isinstance(value, list) and isinstance(source, list) and len(value) == len(source):
        return [_mark(item, given, same_shape) for item, given in zip(value, source, strict=True)]
    return value if isinstance(value, Secret) else Secret(value)


def _mark_kind(value: Any) -> Any:
    """The data of a Secret is secret, whether the program says so or not."""
    if not isinstance(value, dict) or value.get("kind") != "Secret":
        return value
    marked = dict(value)
    for key in ("data", "stringData"):
        if key in marked and not isinstance(marked[key], Secret):
            marked[key] = Secret(plain(marked[key]))
    return marked


def _respell(value: Any, spelling: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {spelling.get(key, key): _respell(item, spelling) for key, item in value.items()}
    return [_respell(item, spelling) for item in value] if isinstance(value, list) else value
