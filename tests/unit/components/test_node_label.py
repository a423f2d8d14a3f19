"""A NodeSet whose place is a node label: only its init container may ask Kubernetes, and only for nodes."""

from tests.unit.components.deployed import Made, deploy

TREE = {
    "slurm": {"topology": {"plugin": "tree", "switches": {"spine": {"switches": ["rack0"]}}}},
    "worker": {"topology": {"switch": "rack0"}},
    "nodeSets": {
        "burst": {"kind": "dynamic", "topology": {"nodeLabel": "example.com/rack", "below": "spine"}},
    },
    "partitions": {"main": {"nodeSets": ["ALL"], "default": True}},
}


def made() -> Made:
    return deploy(**TREE)


def test_the_role_lets_it_look_at_nodes_and_nothing_else() -> None:
    role = made()("ClusterRole", "slurm-burst-node-label")
    assert role.inputs["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
    [subject] = made()("ClusterRoleBinding", "slurm-burst-node-label").inputs["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "burst", "namespace": "slurm"}


def test_only_the_container_that_asks_has_the_token() -> None:
    pod = made().pod("StatefulSet", "burst")
    assert pod.spec["automountServiceAccountToken"] is False
    assert pod.spec["serviceAccountName"] == "burst"
    holders = [
        container["name"]
        for container in [*pod.spec["initContainers"], *pod.spec["containers"]]
        if any(mount["name"] == "kubernetes" for mount in container["volumeMounts"])
    ]
    assert holders == ["node-label"]


def test_it_is_told_the_label_and_where_the_switch_hangs() -> None:
    [container] = [
        each for each in made().pod("StatefulSet", "burst").spec["initContainers"] if each["name"] == "node-label"
    ]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert variables["NODE_LABEL"] == "example.com/rack"
    assert variables["TOPOLOGY"] == "default:spine:"


def test_other_node_sets_have_no_account() -> None:
    assert "serviceAccountName" not in made().pod("StatefulSet", "worker").spec
    assert made().names("ServiceAccount") == {"burst"}
