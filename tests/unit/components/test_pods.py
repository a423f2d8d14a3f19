"""What holds for every pod of every stack, whichever component makes it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.components.deployed import Made, Pod

BRIDGE = ("scheduler", "controllers", "admission", "steward")
BRIDGED = {"key": "slinky.slurm.net/managed-node", "operator": "Exists", "effect": "NoExecute"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def containers(made: Made) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every container, also those that only run at the start, with words that say where it is."""
    for pod in made.pods():
        for name, container in pod.containers.items():
            yield f"{pod}, container {name}", container


def test_all_kinds_of_pods_are_looked_at(munge: Made) -> None:
    names = {str(pod) for pod in munge.pods()}
    assert names >= {
        "Job populate-jail",
        "Job apply-users",
        "StatefulSet controller",
        "Deployment controller-standby",
        "StatefulSet worker",
        "StatefulSet gpu",
        "StatefulSet burst",
        "StatefulSet login",
    }


def test_a_pod_carries_the_selector_and_tolerations_of_the_filter_that_it_names(made: Made) -> None:
    for pod in made.pods():
        chosen = made.settings.node_filters[pod.labels["slipway/node-filter"]]
        assert pod.spec.get("nodeSelector", {}) == chosen.node_selector, pod
        wanted = [each.model_dump(by_alias=True, exclude_none=True) for each in chosen.tolerations]
        # And workers that of the bridge, which would throw them off their machine.
        wanted += [BRIDGED] if pod.labels["app.kubernetes.io/name"] == "worker" else []
        assert pod.spec.get("tolerations", []) == wanted, pod


@pytest.mark.parametrize(
    ("kind", "name", "node_filter"),
    [
        ("StatefulSet", "controller", "system"),
        ("Deployment", "controller-standby", "system"),
        ("StatefulSet", "login", "system"),
        ("StatefulSet", "worker", "compute"),
        ("StatefulSet", "burst", "compute"),
        ("StatefulSet", "gpu", "gpu"),
    ],
)
def test_a_pod_names_the_filter_that_its_section_names(munge: Made, kind: str, name: str, node_filter: str) -> None:
    assert munge.pod(kind, name).labels["slipway/node-filter"] == node_filter


def test_no_alternative_of_a_pods_affinity_allows_a_control_plane_node(made: Made) -> None:
    for pod in made.pods():
        terms = pod.spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
        assert terms, pod
        for term in terms:
            keeps_off = {"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"}
            assert keeps_off in term["matchExpressions"], pod


def test_a_filters_own_affinity_is_kept(munge: Made) -> None:
    nodes = munge.pod("StatefulSet", "gpu").spec["affinity"]["nodeAffinity"]
    by_model, by_name = nodes[REQUIRED]["nodeSelectorTerms"]
    assert {"key": "model", "operator": "In", "values": ["h100"]} in by_model["matchExpressions"]
    assert by_name["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": ["spare"]}]
    [preferred] = nodes["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preferred["preference"]["matchExpressions"] == [{"key": "new", "operator": "Exists"}]


def test_no_pod_can_talk_to_kubernetes_or_is_told_of_it(made: Made) -> None:
    for pod in made.pods():
        assert pod.spec["automountServiceAccountToken"] is False, pod
        assert pod.spec["enableServiceLinks"] is False, pod


def test_kubernetes_leaves_nothing_in_a_dev_that_users_see(made: Made) -> None:
    for where, container in containers(made):
        if container["name"] in ("sshd", "slurmd"):
            assert not container["terminationMessagePath"].startswith("/dev/"), where


def test_no_pod_shares_the_nodes_namespaces(made: Made) -> None:
    for pod in made.pods():
        assert not {"hostNetwork", "hostPID", "hostIPC"} & {key for key, value in pod.spec.items() if value}, pod
        for container in pod.containers.values():
            assert not any("hostPort" in port for port in container.get("ports", [])), pod


def test_every_container_gets_exactly_what_it_asks_for(made: Made) -> None:
    for where, container in containers(made):
        resources = container["resources"]
        assert {"cpu", "memory"} <= set(resources["requests"]), where
        if container["name"] in ("caretaker", "metrics", "rehearsal", "slurmrestd", "slurmdbd", *BRIDGE):
            continue  # they do nothing but for seconds now and then, and little room is kept for them
        if container["name"] == "slurmd" and made.settings.bridge.lent:
            continue  # jobs and pods take turns on its machine
        assert resources["requests"] == resources["limits"], where


def test_every_image_is_one_that_the_settings_name(made: Made) -> None:
    roles = ("controller", "worker", "login", "jail", "accounting", "database", "rest")
    images = made.settings.images
    known = {images.reference(role) for role in roles}
    known |= {images.bridge_scheduler, images.bridge_controllers, images.bridge_admission}
    for where, container in containers(made):
        assert container["image"] in known, where


@pytest.mark.parametrize(
    ("kind", "name", "image"),
    [
        ("StatefulSet", "controller", "registry.example.com/slipway/controller:2"),
        ("StatefulSet", "worker", "registry.example.com/slipway/worker:2"),
        ("StatefulSet", "login", "registry.example.com/slipway/login:2"),
        ("Job", "populate-jail", "registry.example.com/own/root:3"),
        ("Job", "apply-users", "registry.example.com/own/root:3"),
    ],
)
def test_all_containers_of_a_pod_run_the_image_of_its_role(given: Made, kind: str, name: str, image: str) -> None:
    assert {each["image"] for each in given.pod(kind, name).containers.values()} == {image}


def test_what_is_mounted_is_there_and_what_is_there_is_mounted(made: Made) -> None:
    for pod in made.pods():
        mounted = {mount["name"] for each in pod.containers.values() for mount in each.get("volumeMounts", [])}
        assert mounted == set(pod.volumes), pod
        assert len(pod.volumes) == len(pod.spec.get("volumes", [])), f"{pod} has two volumes of one name"


def test_no_container_mounts_two_volumes_at_one_place(made: Made) -> None:
    for where, container in containers(made):
        paths = [mount["mountPath"] for mount in container.get("volumeMounts", [])]
        assert len(set(paths)) == len(paths), where


def test_volumes_are_mounted_before_what_is_inside_them(made: Made) -> None:
    for where, container in containers(made):
        paths = [mount["mountPath"] for mount in container.get("volumeMounts", [])]
        for place, path in enumerate(paths):
            assert not any(later in _parents(path) for later in paths[place + 1 :]), f"{where}: {path}"


def _parents(path: str) -> list[str]:
    words = path.split("/")
    return ["/".join(words[:count]) for count in range(1, len(words))]


def test_a_folder_of_the_node_is_mounted_only_where_the_storage_says_so(made: Made) -> None:
    storage = made.settings.storage
    of_nodes = [each for node_set in made.settings.all_node_sets.values() for each in node_set.submounts]
    volumes = [storage.jail, *storage.submounts, made.settings.controller.state, *of_nodes]
    volumes.append(made.settings.accounting.mariadb.storage)
    said = {each.host_path for each in volumes if each.host_path}
    for pod in made.pods():
        paths = {volume["hostPath"]["path"] for volume in pod.volumes.values() if "hostPath" in volume}
        assert paths <= said, pod


def test_slurmd_alone_is_privileged(made: Made) -> None:
    node_sets = made.settings.all_node_sets
    privileged = {
        (pod.workload.metadata["name"], name)
        for pod in made.pods()
        for name, container in pod.containers.items()
        if container["securityContext"].get("privileged")
    }
    assert privileged == {(name, "slurmd") for name in node_sets}


def test_a_container_that_mounts_nothing_into_the_shared_root_has_no_way_to_more_rights(made: Made) -> None:
    for where, container in containers(made):
        if container["name"] in ("slurmd", "sshd"):
            continue
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, where
        assert context["readOnlyRootFilesystem"] is True, where
        assert context["capabilities"]["drop"] == ["ALL"], where
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, where
        assert context.get("runAsUser") is not None, f"{where}: who it runs as is left to the image"


def test_a_selector_finds_the_pods_of_its_own_template_and_no_others(made: Made) -> None:
    for pod in made.pods():
        selector = pod.workload.spec.get("selector")
        if pod.workload.kind == "Job":
            assert selector is None, "Kubernetes makes a Job's selector itself"
            continue
        assert selector
        found = [str(each) for each in made.pods() if _matches(selector["matchLabels"], each)]
        assert found == [str(pod)]


def test_a_service_finds_the_pods_of_one_workload(made: Made) -> None:
    for service in made.of("Service"):
        found = [each for each in made.pods() if _matches(service.spec["selector"], each)]
        assert len(found) == 1, service.metadata["name"]


def test_a_stateful_set_names_a_headless_service_that_finds_its_pods(made: Made) -> None:
    for workload in made.of("StatefulSet"):
        service = made("Service", workload.spec["serviceName"])
        assert service.spec["clusterIP"] == "None"
        assert _matches(service.spec["selector"], Pod(workload)), workload.name


def test_a_services_port_leads_to_a_port_of_a_container(made: Made) -> None:
    for service in made.of("Service"):
        [pod] = [each for each in made.pods() if _matches(service.spec["selector"], each)]
        open_ports = {port["containerPort"] for each in pod.containers.values() for port in each.get("ports", [])}
        for port in service.spec.get("ports", []):
            assert port.get("targetPort", port["port"]) in open_ports, service.metadata["name"]


def test_a_probe_asks_a_port_that_is_open(made: Made) -> None:
    for where, container in containers(made):
        open_ports = {port["containerPort"] for port in container.get("ports", [])}
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe = container.get(kind, {})
            if asked := probe.get("httpGet") or probe.get("tcpSocket"):
                assert asked["port"] in open_ports, where


def test_a_container_that_stays_is_among_the_first_ones_only_as_a_sidecar(made: Made) -> None:
    """An init container that never ends would keep the pod from starting."""
    daemons = {"munge", "sackd"}
    for pod in made.pods():
        stays = {name for name, each in pod.init_containers.items() if each.get("restartPolicy") == "Always"}
        assert stays == daemons & set(pod.init_containers), pod
        if "munge" in stays:
            assert "postStart" in pod.init_containers["munge"]["lifecycle"], f"{pod}: what follows does not wait for it"


def test_everything_is_in_the_clusters_namespace_or_has_its_name_in_its_own(made: Made) -> None:
    """What has no namespace must not be another cluster's as well."""
    namespace = made.settings.cluster.namespace
    for each in made.resources:
        if "metadata" not in each.inputs or each.kind == "Namespace":
            continue
        home = each.metadata.get("namespace", "none")
        if home in ("none", "kube-system"):
            assert each.metadata["name"].startswith(f"{namespace}-"), each.name
        else:
            assert home in (namespace, made.settings.bridge_namespace), each.name


def test_a_pod_that_has_an_account_shows_its_token_to_one_container_only(labelled: Made) -> None:
    """And to one that is gone before anything of a user's runs."""
    for pod in labelled.pods():
        tokens = {name for name, volume in pod.volumes.items() if "serviceAccountToken" in str(volume)}
        holders = [
            name
            for name, each in pod.containers.items()
            if tokens & {mount["name"] for mount in each.get("volumeMounts", [])}
        ]
        assert holders == (["node-label"] if pod.spec.get("serviceAccountName") else []), pod
        assert not set(holders) & {each["name"] for each in pod.spec["containers"]}, pod


def _matches(selector: dict[str, str], pod: Pod) -> bool:
    return selector.items() <= pod.labels.items()
