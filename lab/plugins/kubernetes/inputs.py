"""What the engine compares: inputs with name and namespace filled in, and the plan that follows from a change."""

from typing import Any

from lab.plugins.kubernetes import names, ownership
from lab.plugins.kubernetes.cluster import Cluster
from lab.plugins.kubernetes.diff import Change, Difference, Path, differences, parse, text
from lab.plugins.kubernetes.discovery import NoSuchKind
from lab.plugins.kubernetes.kinds import may_have_namespace, of_token
from lab.plugins.kubernetes.objects import READ_ONLY_METADATA, Object, dig, name_of, namespace_of
from lab.plugins.kubernetes.options import Options
from lab.plugins.kubernetes.replace import forces_replacement, immutable_fields
from lab.plugins.kubernetes.wishes import REPLACE_UNREADY
from lab.plugins.protocol import provider_pb2
from lab.plugins.server import UNKNOWN

_KINDS = {
    (Change.ADD, False): provider_pb2.PropertyDiff.ADD,
    (Change.ADD, True): provider_pb2.PropertyDiff.ADD_REPLACE,
    (Change.UPDATE, False): provider_pb2.PropertyDiff.UPDATE,
    (Change.UPDATE, True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
    (Change.DELETE, False): provider_pb2.PropertyDiff.DELETE,
    (Change.DELETE, True): provider_pb2.PropertyDiff.DELETE_REPLACE,
}
_MANAGED_BY = "app.kubernetes.io/managed-by"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_BY_CONTROLLERS = ("deployment.kubernetes.io/revision", _LAST_APPLIED)


def complete(
    inputs: Object,
    old: Object,
    request: provider_pb2.CheckRequest,
    default_namespace: str,
    cluster: Cluster | None,
    options: Options,
) -> None:
    """Fill in what the program left to the provider: kind, name, namespace. Changes `inputs`."""
    api_version, kind = of_token(request.type)
    inputs.setdefault("apiVersion", api_version)
    inputs.setdefault("kind", kind)
    metadata = inputs.setdefault("metadata", {})
    if metadata is UNKNOWN:
        return
    for key in READ_ONLY_METADATA:
        metadata.pop(key, None)
    if options.server_side_apply and metadata.get("generateName") and not metadata.get("name"):
        raise names.NameMissing(
            "metadata.generateName does not work with server-side apply: set metadata.name, or neither"
        )
    _name(inputs, old, request)
    if not metadata.get("namespace") and is_namespaced(inputs, old, cluster):
        metadata["namespace"] = default_namespace
    if not options.server_side_apply and (not old or dig(old, "metadata", "labels", _MANAGED_BY)):
        metadata.setdefault("labels", {})[_MANAGED_BY] = "pulumi"


def _name(inputs: Object, old: Object, request: provider_pb2.CheckRequest) -> None:
    if old:
        names.adopt(inputs, old)
        return
    resource_name = request.name or request.urn.rsplit("::", 1)[-1]
    options = request.autonaming
    disabled = request.HasField("autonaming") and options.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE
    proposed = options.proposed_name if request.HasField("autonaming") else ""
    names.assign(inputs, resource_name, request.randomSeed, proposed, disabled)


def is_namespaced(obj: Object, old: Object, cluster: Cluster | None) -> bool:
    """What the server says; else what it was; else a guess."""
    if cluster is not None:
        try:
            return cluster.discovery.of(obj).namespaced
        except NoSuchKind:
            pass
    if old:
        return bool(namespace_of(old))
    return may_have_namespace(obj)


def canonical(obj: Object, other: Object, cluster: Cluster | None) -> Object:
    """`obj` with the namespace that it really has: `default` if it says none, and none where there are none."""
    metadata = dig(obj, "metadata", default={})
    if metadata is UNKNOWN:
        return obj
    if is_namespaced(obj, other, cluster):
        return obj | {"metadata": metadata | {"namespace": metadata.get("namespace") or "default"}}
    return obj | {"metadata": {key: value for key, value in metadata.items() if key != "namespace"}}


def imported(live: Object) -> Object:
    """Inputs for an object that the program did not create: what was applied, or all that is no status."""
    found = ownership.applied(live) or {key: value for key, value in live.items() if key != "status"}
    metadata = dict(dig(found, "metadata", default={}))
    for key in READ_ONLY_METADATA:
        metadata.pop(key, None)
    if annotations := metadata.get("annotations"):
        metadata["annotations"] = {key: value for key, value in annotations.items() if key not in _BY_CONTROLLERS}
        if not metadata["annotations"]:
            del metadata["annotations"]
    metadata["name"] = name_of(live)
    if namespace_of(live):
        metadata["namespace"] = namespace_of(live)
    return found | {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}


def plan(old: Object, new: Object, ignored: list[str], options: Options, unready: bool) -> provider_pb2.DiffResponse:
    """The engine's answer: which properties change, whether that replaces the object, and in which order."""
    immutable = immutable_fields(
        old, new, config_map_mutable=options.config_map_mutable, secret_mutable=options.secret_mutable
    )
    skipped = [parse(path) for path in ignored]
    changes = [item for item in differences(old, new) if not any(_below(item.path, path) for path in skipped)]
    detailed: dict[str, provider_pb2.PropertyDiff] = {}
    replaces: list[str] = []
    for item in changes:
        replacing = forces_replacement(item, immutable)
        detailed[text(item.path)] = provider_pb2.PropertyDiff(kind=_KINDS[_change(item), replacing], inputDiff=True)
        if replacing:
            replaces.append(text(item.path))
    if unready:
        replaces.append(f'metadata.annotations["{REPLACE_UNREADY}"]')
    same_place = name_of(new) == name_of(old) and namespace_of(new) == namespace_of(old)
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if detailed or replaces else provider_pb2.DiffResponse.DIFF_NONE,
        diffs=sorted({str(item.path[0]) for item in changes}),
        replaces=replaces,
        detailedDiff=detailed,
        hasDetailedDiff=True,
        # Two objects cannot have the same name at the same time; one that we named gets another name.
        deleteBeforeReplace=bool(replaces) and bool(name_of(new)) and same_place and not names.is_autonamed(new),
    )


def _change(item: Difference) -> Change:
    return Change.ADD if item.old is None and item.change is Change.UPDATE else item.change


def _below(path: Path, ignored: Path) -> bool:
    if len(path) < len(ignored):
        return False
    return all(_same(one, other) for one, other in zip(path, ignored, strict=False))


def _same(part: Any, pattern: Any) -> bool:
    return part == pattern or pattern == "*"
