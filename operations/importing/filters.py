"""Where pods may run: rules of theirs as node filters."""

from typing import Any

from operations.importing.draft import Draft, free_name
from operations.importing.field import Taking, Unusable, listing, mapping

RULES = ("nodeSelector", "affinity", "tolerations")
SYSTEM = "system"


_TOLERATION = ("key", "operator", "value", "effect", "tolerationSeconds")


def _toleration(values: dict[str, Any]) -> dict[str, Any]:
    """A toleration, where Kubernetes' default is `Equal` and ours is `Exists`."""
    if not values.get("key"):
        raise Unusable("a toleration without a key puts up with every taint, those of the control plane too: name keys")
    made = {key: values[key] for key in ("key", "effect", "tolerationSeconds") if values.get(key) is not None}
    if values.get("operator") != "Exists":
        made |= {"operator": "Equal", "value": str(values.get("value") or "")}
    return made


def rule(taking: Taking, values: dict[str, Any]) -> dict[str, Any]:
    """A node filter from the words of a pod."""
    made: dict[str, Any] = {}
    if values.get("nodeSelector"):
        selector = mapping(values["nodeSelector"])
        made["nodeSelector"] = {str(key): str(value) for key, value in selector.items()}
    if values.get("affinity"):
        made["affinity"] = mapping(values["affinity"])
    for index, taint in enumerate(listing(values.get("tolerations") or [])):
        try:
            known = taking.only_of(taint, _TOLERATION, "tolerations", str(index))
            made.setdefault("tolerations", []).append(_toleration(known))
        except Unusable as why:
            taking.left(str(why), "tolerations", str(index))
    return {key: value for key, value in made.items() if value}


def named_filter(taking: Taking) -> None:
    """One of Soperator's own filters, which have names."""
    values = taking.only("name", *RULES)
    if not values.get("name"):
        raise Unusable("it has no name, so that nothing refers to it")
    name = filter_name(str(values["name"]))
    if name != values["name"]:
        taking.adapted(f"`{values['name']}` is no name for a filter here: it is `{name}` now")
    taking.put(rule(taking, values), f"nodeFilters.{name}")


def filter_name(name: str) -> str:
    """The name of a filter, which may be the same as that of a part of the cluster."""
    plain = free_name(name)
    return plain.removesuffix("-nodes") if not name.endswith("-nodes") and plain != "all-nodes" else plain


def filter_of(section: str):
    """Takes the name of the filter that a part of the cluster runs under."""
    return lambda taking: taking.put(filter_name(str(taking.value)), f"{section}.nodeFilter")


def own_filter(draft: Draft, taking: Taking, name: str, path: str, values: dict[str, Any]) -> None:
    """A filter for a part of the cluster that says itself where it runs; those that say the same share one."""
    made = rule(taking, values)
    filters: dict[str, Any] = draft.values.setdefault("nodeFilters", {})
    same = next((known for known, other in filters.items() if other == made), None)
    wanted = filter_name(name)
    if same is None:
        while wanted in filters:
            wanted += "-x"
        taking.put(made, f"nodeFilters.{wanted}")
    taking.put(same or wanted, f"{path}.nodeFilter")
