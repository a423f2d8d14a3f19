"""A NodeSet whose place is a node label: only its init container may ask Kubernetes, and only for nodes."""

from tests.unit.components.deployed import Made


def test_the_role_lets_it_look_at_nodes_and_nothing_else(labelled: Made) -> None:
    role = labelled("ClusterRole", "slurm-burst-node-label")
    assert role.inputs["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
    [subject] = labelled("ClusterRoleBinding", "slurm-burst-node-label").inputs["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "burst", "namespace": "slurm"}


def test_the_pod_is_the_account_whose_token_kubernetes_does_not_hand_out_by_itself(labelled: Made) -> None:
    pod = labelled.pod("StatefulSet", "burst")
    assert pod.spec["automountServiceAccountToken"] is False
    assert pod.spec["serviceAccountName"] == "burst"
    assert labelled("ServiceAccount", "burst").inputs["automountServiceAccountToken"] is False


def test_it_is_told_the_label_and_where_the_switch_hangs(labelled: Made) -> None:
    [container] = [
        each for each in labelled.pod("StatefulSet", "burst").spec["initContainers"] if each["name"] == "node-label"
    ]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert variables["NODE_LABEL"] == "example.com/rack"
    assert variables["TOPOLOGY"] == "default:spine:"


def test_other_node_sets_have_no_account(labelled: Made) -> None:
    assert "serviceAccountName" not in labelled.pod("StatefulSet", "worker").spec
    assert labelled.names("ServiceAccount") == {"burst"}
