"""Fields of Soperator: below `spec` of a SlurmCluster or a NodeSet, or the values of its charts, which are alike."""

from collections.abc import Sequence
from typing import Any

from operations.importing.draft import Draft, Mount
from operations.importing.field import Row, Taking, Tree, Unusable, listing
from operations.importing.filters import RULES, own_filter
from operations.importing.lines import extra, records
from operations.importing.partitions import partition
from operations.importing.source import Document, by_name, objects
from operations.importing.volumes import CLAIM, LOGIN, MOUNT, PER_POD, SOURCES, claim, mount, source

WORKER = "worker"


def size(taking: Taking) -> None:
    if taking.value != 1:
        taking.left("one slurmctld runs at a time: controller.standby or controller.backup make a second one ready")
    else:
        taking.left("one slurmctld is what there is anyway")


def _volume(taking: Taking, values: dict[str, Any]) -> Any:
    """A volume by the name that it has in volumeSources, or as it is."""
    if name := values.get("volumeSourceName"):
        named = by_name(taking.tree.at("volumeSources")).get(str(name))
        if named is None:
            raise Unusable(f"there is no volume `{name}` in volumeSources")
        return named
    if values.get("volumeClaimTemplateSpec"):
        raise Unusable(PER_POD)
    return values.get("volumeSource", values)


OLD_ROOT = "/old-root"
NEW_ROOT = (
    f"a new shared root is made, and the old one is mounted at {OLD_ROOT}, read-only: copy people's files from it"
)


def jail(taking: Taking) -> None:
    """The old root is looked at and not written to: filling it anew would mix two systems, while jobs run in it."""
    values = taking.only("volumeSourceName", "volumeClaimTemplateSpec", *SOURCES)
    if values.get("volumeClaimTemplateSpec"):
        raise Unusable("the shared root is one volume of all nodes: set storage.jail")
    volume = _volume(taking, values)
    old = source(volume)
    if "emptyDir" in old:
        raise Unusable("the shared root must outlive its pods: set storage.jail")
    if volume.get("createPVC") is True:
        claim(taking, volume, "storage.jail")
    taking.adapted(NEW_ROOT)
    taking.kept.append("storage.submounts")
    if not any(each.path == OLD_ROOT for each in taking.draft.mounts):
        mounted = Mount(LOGIN, OLD_ROOT, {**old, "readOnly": True}, taking.tree.label(taking.path))
        taking.draft.mounts.append(mounted)


def spool(taking: Taking) -> None:
    """A claim for the queue, like the old one. The old one itself belongs to another slurmctld."""
    template = taking.only("volumeSourceName", "volumeClaimTemplateSpec").get("volumeClaimTemplateSpec")
    if not template:
        raise Unusable("the queue begins empty, on a claim of its own: controller.state says of which StorageClass")
    taking.only_of(template, CLAIM, "volumeClaimTemplateSpec")
    claim(taking, template, "controller.state", "volumeClaimTemplateSpec")
    taking.adapted("a new claim like the old one: the queue begins empty")


def submounts(where: str = ""):
    """Takes mounts in the shared root, of a NodeSet or of the logins."""

    def take(taking: Taking) -> None:
        for index, each in enumerate(listing(taking.value)):
            try:
                values = taking.only_of(each, MOUNT, str(index))
                mount(taking, where if where == LOGIN else taking.names[0], values, _volume(taking, values))
            except Unusable as why:
                taking.left(str(why), str(index))

    return take


def partitions(taking: Taking) -> None:
    values = taking.only("configType", "rawConfig", "partitions")
    kind = values.get("configType", "default")
    if kind == "default":
        for name, more in {
            "main": {"Default": "YES"},
            "hidden": {"Hidden": "YES"},
            "background": {"Hidden": "YES"},
        }.items():
            tier = 1 if name == "background" else 10
            partition(taking, name, {**more, "PriorityTier": tier})
        taking.adapted("the three partitions that Soperator makes by itself")
    elif kind == "custom":
        for line in listing(values.get("rawConfig") or []):
            _raw(taking, str(line))
    else:
        for name, each in by_name(values.get("partitions")).items():
            taking.only_of(each, ("isAll", "nodeSetRefs", "config"), "partitions", name)
            fields = {key: value for pairs in records(each.get("config") or "") for key, value in pairs}
            named = ["ALL"] if each.get("isAll") else [str(one) for one in listing(each.get("nodeSetRefs") or [])]
            partition(taking, name, fields, named)


def _raw(taking: Taking, line: str) -> None:
    for pairs in records(line):
        fields = dict(pairs)
        partition(taking, str(fields.pop("PartitionName", "unnamed")), fields)


def node_port(taking: Taking) -> None:
    if taking.tree.at("slurmNodes", "login", "sshdServiceType") == "NodePort":
        taking.put(taking.value)
    else:
        taking.left("it has a meaning only with NodePort")


def ranges(taking: Taking) -> None:
    if taking.tree.at("slurmNodes", "login", "sshdServiceType") == "LoadBalancer":
        taking.put(taking.value)
    else:
        taking.left("it has a meaning only with LoadBalancer")


def keys(taking: Taking) -> None:
    taking.draft.root_keys += [str(each) for each in listing(taking.value)]
    taking.left(
        "root does not log in: the keys stand in a comment, give each person an entry of `users` with their uid"
    )


def ephemeral(taking: Taking) -> None:
    if taking.value:
        taking.put(0, "nodeSets.*.autoscale.min")
        taking.adapted("Slurm starts and stops the pods by itself; `size` is how many there may be")
    else:
        taking.left("nodes run all the time, as they do without autoscale")


def database_tls(taking: Taking) -> None:
    values = taking.only("serverCASecretRef", "clientCertSecretRef")
    taking.put(True, "accounting.database.tls")
    if values.get("serverCASecretRef"):
        taking.put(str(values["serverCASecretRef"]), "accounting.database.caSecret.name")
    if values.get("clientCertSecretRef"):
        taking.left("slurmdbd proves who it is by its password, and shows no certificate", "clientCertSecretRef")


def health(taking: Taking) -> None:
    values = taking.only("healthCheckInterval", "healthCheckProgram", "healthCheckNodeState")
    taking.put(True, "health.enabled")
    if values.get("healthCheckInterval"):
        taking.put(f"{values['healthCheckInterval']}s", "health.interval")
    for key in ("healthCheckProgram", "healthCheckNodeState"):
        if values.get(key):
            taking.left("Slipway brings its own checks, in every state of a node; put yours in health.checks", key)


def cgroup(taking: Taking) -> None:
    if taking.value == "v2":
        taking.put("v2")
    else:
        taking.left("there is no cgroup v1 in Slurm 26.05: nodes need v2, or set slurm.cgroup: disabled")


def zero_is_none(key: str):
    return lambda taking: extra(key)(taking) if taking.value else taking.left("0 is as if it were not there")


def place(taking: Taking) -> None:
    values = {key: value for key, value in taking.value.items() if key in RULES}
    own_filter(taking.draft, taking, taking.names[0], "nodeSets.*", values)


def on_worker(take):
    def taken(taking: Taking) -> None:
        taking.names = (WORKER,)
        take(taking)

    return taken


def address(taking: Taking) -> None:
    taking.put(str(taking.value))
    taking.adapted("it is only told to users here: ask your cloud for it with login.service.annotations")


def tree(documents: Sequence[Document], draft: Draft) -> Tree:
    """One tree in the shape of the charts."""
    values: dict[str, Any] = {}
    made = Tree(values)
    for each in documents:
        if each.kind == "SlurmCluster":
            made.origins[()] = "spec"
            values.update({**each.spec, "clusterName": each.name, "namespace": each.namespace})
            made.origins |= {("clusterName",): "metadata.name", ("namespace",): "metadata.namespace"}
        elif not each.kind:
            values.update({key: value for key, value in each.values.items() if key != "nodesets"})
    node_sets = {each.name: each.spec for each in objects(documents, "NodeSet")}
    for each in documents:
        if not each.kind:
            node_sets |= by_name(each.values.get("nodesets"))
    for name, spec in node_sets.items():
        made.origins["nodesets", name] = (
            f"NodeSet {name}: spec" if objects(documents, "NodeSet") else f"nodesets.{name}"
        )
        if isinstance(spec, dict):
            placed = {key: spec[key] for key in RULES if spec.get(key)}
            node_sets[name] = {key: value for key, value in spec.items() if key not in RULES}
            if placed:
                node_sets[name]["placement"] = placed
                made.origins["nodesets", name, "placement"] = f"{made.label(('nodesets', name))}.{', '.join(placed)}"
        draft.node_set(name)
    if node_sets:
        values["nodesets"] = node_sets
    if made.at("slurmNodes", WORKER):
        draft.node_set(WORKER)
    for part in ("accounting", "rest", "exporter"):
        _switched_off(made, draft, ("slurmNodes", part))
    for choice in ("externalDB", "mariadbOperator"):
        _switched_off(made, draft, ("slurmNodes", "accounting", choice))
    return made


def _switched_off(made: Tree, draft: Draft, path: tuple[str, ...]) -> None:
    """What is not enabled has no effect there, and none here."""
    section = made.at(*path)
    if isinstance(section, dict) and section.get("enabled") is not True:
        del made.at(*path[:-1])[path[-1]]
        draft.rows.append(Row(made.label(path), "left out", "", "it is not enabled"))


def finish(draft: Draft) -> None:
    draft.put(("cluster", "auth"), "munge", "Soperator's munge")
    if not draft.get("storage", "jail"):
        draft.todo.append("storage.jail: a ReadWriteMany storageClass for the new shared root")
