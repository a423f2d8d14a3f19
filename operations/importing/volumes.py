"""Volumes of theirs, and where they are mounted in the shared root."""

from typing import Any

from operations.importing.amounts import memory
from operations.importing.draft import Draft, Mount
from operations.importing.field import Row, Taking, Unusable, listing, mapping

CLAIM = ("storageClassName", "accessModes", "resources")
_BESIDE = {"name", "createPVC", "storageClassName", "size"}
PER_POD = (
    "a claim for each pod has no counterpart: name a claim that pods share, or `hostPath` or `emptyDir` in `submounts`"
)
SOURCES = {
    "persistentVolumeClaim": {"claimName", "readOnly"},
    "hostPath": {"path", "type"},
    "nfs": {"server", "path", "readOnly"},
    "emptyDir": {"sizeLimit", "medium"},
}


def source(volume: Any, sub_path: str = "") -> dict[str, Any]:
    """The source of a volume, with what of it is read-only."""
    values = mapping(volume)
    kind = next((each for each in SOURCES if isinstance(values.get(each), dict)), None)
    inside = values[kind] if kind else {}
    if others := values.keys() - SOURCES.keys() - _BESIDE:
        raise Unusable(f"{', '.join(sorted(others))} is no source of a volume here; mount it by hand")
    if kind and (more := inside.keys() - SOURCES[kind]):
        raise Unusable(f"a volume of kind {kind} says nothing of {', '.join(sorted(more))} here; mount it by hand")
    below = f"/{sub_path.strip('/')}" if sub_path.strip("/") else ""
    if kind == "hostPath" and inside.get("path"):
        return {"hostPath": str(inside["path"]).rstrip("/") + below}
    if kind == "nfs" and inside.get("server") and inside.get("path"):
        made: dict[str, Any] = {
            "nfs": {"server": str(inside["server"]), "path": str(inside["path"]).rstrip("/") + below}
        }
        return made | ({"readOnly": True} if inside.get("readOnly") else {})
    if below:
        raise Unusable("a part of a volume (subPath) cannot be mounted alone; give it a claim of its own")
    if kind == "persistentVolumeClaim" and inside.get("claimName"):
        made = {"existingClaim": str(inside["claimName"])}
        return made | ({"readOnly": True} if inside.get("readOnly") else {})
    if kind == "emptyDir" and inside.get("medium") != "Memory":
        return {"emptyDir": {"sizeLimit": memory(inside["sizeLimit"])} if inside.get("sizeLimit") else {}}
    raise Unusable("a volume is a claim, a directory of the nodes, NFS or an empty directory here; choose one of them")


def claim(taking: Taking, spec: Any, into: str, *below: str) -> None:
    """A new claim like the one that is described, in any of the ways that there are."""
    values = mapping(spec)
    kind = values.get("storageClassName") or values.get("storageClass")
    if kind and kind != "-":
        taking.put(str(kind), f"{into}.storageClass")
    resources = taking.only_of(values.get("resources") or {}, ("requests",), *below, "resources")
    asked = taking.only_of(resources.get("requests") or {}, ("storage",), *below, "resources", "requests")
    if size := asked.get("storage") or values.get("size"):
        taking.put(memory(size), f"{into}.size")


LOGIN = ""  # no name of a NodeSet


MOUNT = ("name", "mountPath", "subPath", "readOnly", "volumeSourceName", "volumeClaimTemplateSpec", "volumeSource")


def mount(taking: Taking, where: str, values: dict[str, Any], volume: Any) -> None:
    """Note a mount; which ones are everybody's is decided when all are known."""
    if not values.get("mountPath"):
        raise Unusable("it does not say where it is mounted")
    made = source(volume, str(values.get("subPath") or ""))
    if values.get("readOnly"):
        made["readOnly"] = True
    if where == LOGIN and "emptyDir" in made:
        raise Unusable("login pods have no empty directories of their own here; mount something that stays")
    path = "/" + str(values["mountPath"]).strip("/")
    taking.draft.mounts.append(Mount(where, path, made, taking.tree.label(taking.path)))
    taking.kept.append("storage.submounts" if where == LOGIN else "submounts")


def place_mounts(draft: Draft) -> None:
    """What logins have is everybody's here; what only a NodeSet has is its own."""
    everywhere: dict[str, Mount] = {}
    for each in draft.mounts:
        if each.where == LOGIN:
            everywhere.setdefault(each.path, each)
    if everywhere:
        listed = [{"mountPath": path, **each.volume} for path, each in everywhere.items()]
        draft.put(("storage", "submounts"), listed, next(iter(everywhere.values())).label)
    own: dict[str, list[Mount]] = {}
    for each in draft.mounts:
        if each.where != LOGIN and each.path in everywhere and each.volume != everywhere[each.path].volume:
            why = f"{each.path} is the same everywhere here, and what {everywhere[each.path].label} mounts"
            draft.rows.append(Row(each.label, "adapted", "storage.submounts", why))
        if each.where != LOGIN and each.path not in everywhere:
            own.setdefault(each.where, []).append(each)
    for name, members in own.items():
        listed = [{"mountPath": each.path, **each.volume} for each in members]
        draft.put((*draft.node_set(name), "submounts"), listed, members[0].label)


def pod_mounts(taking: Taking, where: str, volumes: Any) -> None:
    """The mounts of a container, with the volumes of its pod."""
    by_name = {str(mapping(each).get("name")): each for each in listing(volumes or [])}
    for index, each in enumerate(listing(taking.value)):
        values = taking.only_of(each, MOUNT[:4], str(index))
        volume = by_name.get(str(values.get("name")))
        try:
            if volume is None:
                raise Unusable(PER_POD)
            mount(taking, where, values, volume)
        except Unusable as why:
            taking.left(str(why), str(index))
