"""slurm-operator of SchedMD: its objects and the values of its chart as one tree, and what is special in reading it."""

from collections.abc import Sequence
from typing import Any

from operations.importing.draft import Draft, Path
from operations.importing.field import Row, Taking, Tree, Unusable, listing, mapping
from operations.importing.filters import RULES, SYSTEM, own_filter
from operations.importing.lines import mpi_conf, records
from operations.importing.partitions import partition
from operations.importing.source import Document, objects
from operations.importing.volumes import LOGIN, claim, pod_mounts

PARTS = ("controller", "restapi", "accounting")
SETS = ("nodesets", "loginsets")
_SECTIONS = {"controller": "controller", "restapi": "rest", "accounting": "accounting"}


def tree(documents: Sequence[Document], draft: Draft) -> Tree:
    """One tree in the shape of the chart of 1.x."""
    values: dict[str, Any] = {}
    made = Tree(values)
    for each in documents:
        if each.chart and not each.kind:
            values.update(each.values)
    _add_objects(made, documents)
    return settled(made, draft)


def _add_objects(made: Tree, documents: Sequence[Document]) -> None:
    """Objects where the chart has their settings."""
    values = made.values
    for kind, part in {"Controller": "controller", "RestApi": "restapi", "Accounting": "accounting"}.items():
        for each in objects(documents, kind):
            values[part] = _as_values(made, (part,), each)
    for each in objects(documents, "Controller"):
        stated = values["controller"].pop("clusterName", None)
        values |= {"clusterName": stated or f"{each.namespace}_{each.name}", "namespace": each.namespace}
        made.origins |= {
            ("clusterName",): f"Controller {each.name}: spec.clusterName" if stated else "metadata of the Controller",
            ("namespace",): "metadata.namespace",
        }
    for each in objects(documents, "Accounting"):
        values["accounting"]["enabled"] = True
        made.origins["accounting", "enabled"] = f"Accounting {each.name}"
    for kind, part in {"NodeSet": "nodesets", "LoginSet": "loginsets"}.items():
        for each in objects(documents, kind):
            values.setdefault(part, {})[each.name] = _as_values(made, (part, each.name), each)


def _as_values(made: Tree, path: Path, each: Document) -> dict[str, Any]:
    made.origins[path] = f"{each.kind} {each.name}: spec"
    template = each.spec.get("template")
    inside = template if isinstance(template, dict) else {}
    made.origins |= {(*path, "podSpec"): f"{made.origins[path]}.template.spec"}
    values = {key: value for key, value in each.spec.items() if key != "template"}
    values["template"] = {key: value for key, value in inside.items() if key not in ("spec", "metadata")}
    return values | {"podSpec": inside.get("spec") or {}, "metadata": inside.get("metadata") or {}}


def settled(made: Tree, draft: Draft) -> Tree:
    """Without what is disabled, with shared defaults worked in, and where pods run in one place each."""
    for part in SETS:
        sets = made.values.get(part)
        if isinstance(sets, dict):
            if shared := sets.pop("_defaults", None) or {}:
                draft.rows.append(Row(made.label((part, "_defaults")), "carried over", "", "worked into each of them"))
            made.values[part] = {name: _merged(shared, each) for name, each in sets.items()}
    switched = [(part,) for part in PARTS] + [
        (part, name) for part in (*SETS, "partitions") for name in _names(made, part)
    ]
    for path in switched:
        section = made.at(*path)
        if isinstance(section, dict) and section.get("enabled") is False:
            _leave_out(made, draft, path, "it is not enabled")
        elif isinstance(section, dict) and path[0] in SETS:
            section.pop("enabled", None)
    accounting = made.at("accounting")
    if isinstance(accounting, dict) and accounting.get("enabled") is not True:
        _leave_out(made, draft, ("accounting",), "it is not enabled")
    elif isinstance(accounting, dict) and accounting.get("external") is True:
        _leave_out(
            made, draft, ("accounting",), "a slurmdbd outside of the cluster cannot be used: Slipway brings its own"
        )
        draft.todo.append("accounting: slurmdbd ran elsewhere; enable it here, with a copy of the records")
    for name in _names(made, "loginsets")[1:]:
        _leave_out(made, draft, ("loginsets", name), "there is one set of login pods here, which the first one became")
    for path in [(part,) for part in PARTS] + [(part, name) for part in SETS for name in _names(made, part)]:
        _settle(made, draft, path)
    for name in _names(made, "nodesets"):
        draft.node_set(name)
    return made


def _names(made: Tree, part: str) -> list[str]:
    section = made.at(part)
    return list(section) if isinstance(section, dict) else []


def _leave_out(made: Tree, draft: Draft, path: Path, why: str) -> None:
    del made.at(*path[:-1])[path[-1]]
    draft.rows.append(Row(made.label(path), "left out", "", why))


def _merged(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return below if above is None else above
    return {
        key: _merged(below.get(key), above.get(key)) for key in [*below, *(each for each in above if each not in below)]
    }


def _settle(made: Tree, draft: Draft, path: Path) -> None:
    """Rules for nodes together, and of two ways to say the same the one that counts."""
    section = made.at(*path)
    if not isinstance(section, dict):
        return
    pod = section.get("podSpec")
    if isinstance(pod, dict):
        placed = {key: pod[key] for key in RULES if pod.get(key)}
        section["podSpec"] = {key: value for key, value in pod.items() if key not in RULES}
        section["placement"] = placed
        labels = [made.label((*path, "podSpec", key)) for key in placed]
        made.origins[*path, "placement"] = ", ".join([*labels[:1], *list(placed)[1:]])
    if section.get("extraConf") and section.get("extraConfMap"):
        _leave_out(made, draft, (*path, "extraConfMap"), "extraConf counts, which is there too")


def place(taking: Taking) -> None:
    """A node filter for a part of the cluster."""
    part = taking.path[0]
    if part == "nodesets":
        own_filter(taking.draft, taking, taking.names[0], "nodeSets.*", taking.value)
    else:
        section = _SECTIONS.get(part, "login")
        name = SYSTEM if section == "controller" else section
        own_filter(taking.draft, taking, name, section, taking.value)


def persistence(taking: Taking) -> None:
    """The claim of slurmctld; 1.x and 0.x differ in how they say class and size."""
    known = ("enabled", "existingClaim", "storageClassName", "storageClass", "accessModes", "resources", "size")
    values = taking.only(*known, "annotations", "labels", "selector")
    if values.get("enabled") is False:
        taking.left(
            "slurmctld always keeps the queue: on a claim of the default StorageClass, or what controller.state says"
        )
        return
    if values.get("existingClaim"):
        taking.left("the queue begins empty, on a claim of its own: controller.state says of which StorageClass")
        return
    claim(taking, values, "controller.state")
    taking.adapted("a new claim like the old one: the queue begins empty")


def mounts(taking: Taking) -> None:
    """What is mounted in slurmd's or sshd's container is mounted in the shared root."""
    owner = taking.path[:2]
    pod_mounts(taking, LOGIN if owner[0] == "loginsets" else owner[1], taking.tree.at(*owner, "podSpec", "volumes"))


def partitions(taking: Taking) -> None:
    """A partition of its own, or that of a NodeSet."""
    values = taking.only("enabled", "nodesets", "config", "configMap")
    own = taking.path[0] == "nodesets"
    if own and values.get("enabled") is not True:
        taking.left("it is not enabled")
        return
    said = values.get("config") or values.get("configMap") or {}
    if values.get("config") and values.get("configMap"):
        taking.left("config counts, which is there too", "configMap")
    fields = {key: value for pairs in records(said) for key, value in pairs}
    named = [taking.names[0]] if own else [str(each) for each in listing(values.get("nodesets") or ["ALL"])]
    partition(taking, taking.names[0], fields, named)


def root_keys(taking: Taking) -> None:
    listed = taking.value if isinstance(taking.value, list) else str(taking.value).splitlines()
    taking.draft.root_keys += [str(each).strip() for each in listed if str(each).strip()]
    taking.left(
        "root does not log in: the keys stand in a comment, give each person an entry of `users` with their uid"
    )


def service(section: str):
    """Takes the spec of a Service."""

    def take(taking: Taking) -> None:
        values = taking.only("type", "loadBalancerIP", "loadBalancerSourceRanges", "externalTrafficPolicy")
        taking.put(values.get("type"), f"{section}.service.type")
        if values.get("loadBalancerSourceRanges"):
            taking.put(listing(values["loadBalancerSourceRanges"]), f"{section}.service.sourceRanges")
        if values.get("loadBalancerIP") and section == "login":
            taking.put(str(values["loadBalancerIP"]), "login.service.address")
            taking.adapted("loadBalancerIP is only told to users here: ask your cloud for it with annotations")
        if values.get("externalTrafficPolicy"):
            taking.left("Slipway decides about it", "externalTrafficPolicy")

    return take


def node_port(section: str, part: str):
    """Takes a port of the nodes, where it has a meaning."""

    def take(taking: Taking) -> None:
        kind = taking.tree.at(*taking.path[:-1], "spec", "type") or (
            "LoadBalancer" if section == "login" else "ClusterIP"
        )
        if kind == "ClusterIP":
            raise Unusable(f"{part} has no port of the nodes with ClusterIP")
        taking.put(taking.value, f"{section}.service.nodePort")

    return take


def config_files(taking: Taking) -> None:
    """Files of /etc/slurm beside slurm.conf."""
    for name, text in mapping(taking.value).items():
        if name in ("job_submit.lua", "cli_filter.lua"):
            taking.put(str(text), "slurm.jobSubmitLua" if name.startswith("job") else "slurm.cliFilterLua")
        elif name == "mpi.conf":
            taking.value = text
            mpi_conf(taking)
        elif name in ("job_container.conf", "namespace.yaml"):
            taking.put(True, "slurm.privateTmp")
            taking.adapted(f"{name} gave each job folders of its own, and slurm.privateTmp does")
        else:
            taking.left(
                _FILES.get(name, "Slipway writes what it needs of Slurm's files, and has no setting for this one"), name
            )


_FILES = {
    "cgroup.conf": "Slipway writes cgroup.conf: set slurm.cgroup",
    "gres.conf": "Slipway writes gres.conf from `gpus` and `gres` of the NodeSets",
    "topology.conf": "set slurm.topology, and `topology` of each NodeSet",
    "topology.yaml": "set slurm.topology, and `topology` of each NodeSet",
    "plugstack.conf": "Slipway's images bring no SPANK plugins, and plugstack.conf is its own",
}


def scaling(taking: Taking) -> None:
    if taking.value == "DaemonSet":
        named = taking.draft.names[taking.names[0]]
        taking.draft.todo.append(f"size of NodeSet `{named}`: there was a pod on each node that matched; say how many")
        taking.left("the number of nodes is stated here: set `size`")
    else:
        taking.left("NodeSets are StatefulSets")


def external(part: str):
    """Takes the switch for a daemon outside of Kubernetes."""

    def take(taking: Taking) -> None:
        if taking.value:
            taking.draft.todo.append(f"{part} ran elsewhere, and Slipway brings its own")
            taking.left("Slipway brings its own: there is no way to use one from outside")
        else:
            taking.left("Slipway brings its own, too")

    return take


def finish(draft: Draft) -> None:
    draft.put(("cluster", "auth"), "slurm", "slurm-operator's key")
    if draft.get("login") is None:
        draft.put(("login", "size"), 0, "")
        draft.todo.append("login.size: the source has no login pods that are enabled; users get in through some")
    draft.todo.append(
        "storage.jail: users and jobs live in a shared root, which slurm-operator has not; name a ReadWriteMany "
        "storageClass for it, or an existingClaim"
    )
