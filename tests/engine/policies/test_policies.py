"""Stacks that the pack stops and lets through, as a user meets them: `pulumi preview --policy-pack policies`."""

import pytest

from policies.rules import RULES
from tests.engine.policies.stack import PACK, Stack, Verdict, change

POD = "spec.template.spec"
FIRST = f"{POD}.containers.0"
RULES_OF_RESOURCES = {"node-filters", "resources", "privileges", "secrets", "shared-storage", "budget", "images"}

# Each is one careless edit away: by a transform, or in components/.
MUTATIONS = {
    "a dropped node selector": (
        change("StatefulSet dev-worker", f"{POD}.nodeSelector", {}),
        "node-filters",
        "nodeFilters.compute.nodeSelector says {'slipway/role': 'compute'}",
    ),
    "a toleration of everything": (
        change("StatefulSet dev-controller", f"{POD}.tolerations", [{"operator": "Exists"}]),
        "node-filters",
        "tolerates every taint",
    ),
    "an affinity that lets the control plane in": (
        change("Job dev-apply-users", f"{POD}.affinity", {}),
        "node-filters",
        "could land on a control-plane node",
    ),
    "a pod bound to a node": (
        change("Job dev-populate-jail", f"{POD}.nodeName", "node-0"),
        "node-filters",
        "is bound to the node node-0",
    ),
    "an image that moves": (
        change("StatefulSet dev-worker", f"{FIRST}.image", "localhost/slipway/worker:latest"),
        "images",
        "can be another image tomorrow",
    ),
    "an image of a stranger": (
        change("StatefulSet dev-login", f"{FIRST}.image", "stranger.example.com/login:1"),
        "images",
        "comes from none of the allowed registries (localhost)",
    ),
    "a worker that is not Guaranteed": (
        change("StatefulSet dev-worker", f"{FIRST}.resources.requests", {"cpu": "10m", "memory": "64Mi"}),
        "resources",
        "asks for cpu 10m and may use 1",
    ),
    "a container without limits": (
        change("StatefulSet dev-login", f"{FIRST}.resources", {}),
        "resources",
        "does not state requests.cpu, requests.memory, limits.cpu, limits.memory",
    ),
    "a privileged login": (
        change("StatefulSet dev-login", f"{FIRST}.securityContext", {"privileged": True}),
        "privileges",
        "only worker/slurmd may be",
    ),
    "the network of the node": (
        change("StatefulSet dev-worker", f"{POD}.hostNetwork", True),
        "privileges",
        "sets hostNetwork",
    ),
    "a folder of the node": (
        change("Job dev-populate-jail", f"{POD}.volumes.0", {"name": "jail", "hostPath": {"path": "/etc"}}),
        "privileges",
        "mounts /etc of its node",
    ),
    "a controller that is root": (
        change("StatefulSet dev-controller", f"{FIRST}.securityContext", {"readOnlyRootFilesystem": True}),
        "privileges",
        "may run as root",
    ),
    "a password in a ConfigMap": (
        change("ConfigMap dev-config", "data.slurmdbd", "StoragePass=hunter2"),
        "secrets",
        "holds a key, token or password",
    ),
    "a password in a variable": (
        change("StatefulSet dev-controller", f"{FIRST}.env", [{"name": "DB_PASSWORD", "value": "hunter2"}]),
        "secrets",
        "the variable DB_PASSWORD is a secret by its name",
    ),
    "a shared root for one node": (
        change("PersistentVolumeClaim dev-jail", "spec.accessModes", ["ReadWriteOnce"]),
        "shared-storage",
        "Make them ReadWriteMany",
    ),
    "more workers than were declared": (
        change("StatefulSet dev-worker", "spec.replicas", 200),
        "budget",
        "has 200 replicas, and the stack declares 2",
    ),
}


@pytest.fixture(scope="module")
def mutated(stack: Stack) -> Verdict:
    """All at once: a preview goes on after a violation, and says them all."""
    return stack.checked(changes=[mutation for mutation, _, _ in MUTATIONS.values()], fails=True)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_of_the_dev_stacks_resources_is_caught(mutated: Verdict, name: str) -> None:
    mutation, rule, message = MUTATIONS[name]
    said = mutated.of(rule, mutation["resource"][1])
    assert message in said
    assert message in " ".join(mutated.result.text.split()), "and the user sees it"


def test_the_dev_stack_passes_in_its_first_preview_with_nothing_unknown(stack: Stack) -> None:
    verdict = stack.checked()
    assert verdict.stopped == set()
    assert verdict.advised == {"protected-storage-advice"}, "the lab goes as a whole"
    assert "can't run policy" not in verdict.result.text
    assert "known only after the update" not in verdict.result.text


def test_an_unknown_value_stops_a_mandatory_rule_and_does_not_quiet_it(stack: Stack) -> None:
    hidden = [
        change("StatefulSet dev-worker", f"{POD}.nodeSelector", "unknown"),
        change("StatefulSet dev-worker", "spec.replicas", "unknown"),
        change("StatefulSet dev-login", f"{FIRST}.image", "unknown"),
        change("StatefulSet dev-login", f"{FIRST}.resources", "unknown"),
        change("StatefulSet dev-controller", f"{FIRST}.securityContext", "unknown"),
        change("ConfigMap dev-config", "data", "unknown"),
        change("PersistentVolumeClaim dev-jail", "spec.accessModes", "unknown"),
    ]
    verdict = stack.checked(changes=hidden, fails=True)
    assert verdict.stopped == RULES_OF_RESOURCES
    for (level, rule, resource), message in verdict.said.items():
        assert level == "mandatory" or rule == "protected-storage-advice", (rule, resource)
        assert level != "mandatory" or "is known only after the update" in message
    assert "can't run policy" not in verdict.result.text


# What only the stack's config can break. Of each key: the broken one, and the mended one.
BROKEN = {
    "cluster": ({"name": "hpc", "stage": "staging"}, {"name": "hpc", "stage": "staging"}),
    "images": (
        {"registry": "registry.example.com/slipway"},
        {"registry": "registry.example.com/slipway", "tag": "26.05-1"},
    ),
    "worker": ({"nodeFilter": "system", "size": 300}, {"nodeFilter": "compute", "size": 3}),
    "nodeSets": (
        {"one": {"nodeFilter": "compute", "exclusive": True}, "two": {"nodeFilter": "compute", "exclusive": True}},
        {"one": {"nodeFilter": "one", "exclusive": True}, "two": {"nodeFilter": "two", "exclusive": True}},
    ),
    "nodeFilters": (
        {"system": {"nodeSelector": {"pool": "system"}, "nodes": 3}, "compute": {"nodeSelector": {"pool": "compute"}}},
        {pool: {"nodeSelector": {"pool": pool}, "nodes": 3} for pool in ("system", "compute", "one", "two")},
    ),
    "storage": (
        {"jail": {"storageClass": "cephfs"}, "retain": False},
        {"jail": {"storageClass": "cephfs"}},
    ),
    "login": (
        {"service": {"type": "LoadBalancer"}},
        {"service": {"type": "LoadBalancer", "sourceRanges": ["192.0.2.0/24"]}},
    ),
}


def test_a_stack_that_breaks_the_rules_is_stopped_with_the_keys_to_mend(stack: Stack) -> None:
    verdict = stack.checked(fails=True, **{key: broken for key, (broken, _) in BROKEN.items()})
    assert verdict.stopped == {"node-filters", "isolation", "images", "protected-storage", "login-sources", "budget"}
    assert "runs jobs on the nodes of apply-users, controller" in verdict.of("node-filters", "hpc-worker")
    isolation = verdict.of("isolation", "hpc")
    assert "NodeSets one and two use the same node filter `compute`" in isolation
    assert "nodeFilters.system declares 3 nodes" in isolation
    assert "(`images.tag`)" in verdict.of("images", "hpc-controller")
    assert "`storage.retain: true`" in verdict.of("protected-storage", "hpc-jail")
    assert "`login.service.sourceRanges`" in verdict.of("login-sources", "hpc-login")
    assert "302 nodes, and this stack may have 256" in verdict.of("budget", "hpc")


def test_machines_that_are_lent_to_the_bridge_must_be_nobody_elses(stack: Stack) -> None:
    def lent(role: str, *, fails: bool) -> Verdict:
        images = {f"bridge{each}": "localhost/slipway/bridge:1" for each in ("Scheduler", "Controllers", "Admission")}
        return stack.checked(
            fails=fails,
            rest={"enabled": True},
            images=images,
            partitions={"main": {"nodeSets": ["worker"], "default": True}, "bridge": {"nodeSets": ["bridge"]}},
            bridge={
                "enabled": True,
                "managedNamespaces": ["batch"],
                "partition": "bridge",
                "externalNodes": {"selector": {"slipway/role": role}},
            },
        )

    assert "lending" not in lent("batch", fails=False).stopped
    verdict = lent("compute", fails=True)
    assert verdict.stopped == {"lending"}
    assert "could be those of NodeSet worker (nodeFilters.compute)" in verdict.of("lending", "dev")


def test_an_update_without_a_preview_stops_before_the_first_resource_of_the_cluster(stack: Stack) -> None:
    stack.checked(worker={"nodeFilter": "compute", "size": 300}, fails=True)
    failed = stack.up("--policy-pack", str(PACK), fails=True)
    assert failed.violations == [("mandatory", "budget")]
    kept = [each["type"] for each in stack.export()["deployment"].get("resources", [])]
    assert not [each for each in kept if each.startswith(("slipway:", "kubernetes:", "command:"))], kept


def test_the_same_stack_mended_passes(stack: Stack) -> None:
    verdict = stack.checked(**{key: mended for key, (_, mended) in BROKEN.items()})
    assert verdict.said == {}


def test_the_production_example_passes_with_its_config_and_not_without_digests(stack: Stack) -> None:
    config = {"images": {"registries": ["registry.example.com/slipway"]}}
    assert stack.checked("prod", config=config).said == {}
    tagged = {"registry": "registry.example.com/slipway", "tag": "26.05-1"}
    verdict = stack.checked("prod", config=config | {"budget": {"gpus": 100}}, fails=True, images=tagged)
    assert verdict.stopped == {"images", "budget"}
    assert "has no digest, and this stack is production" in verdict.of("images", "prod-worker")
    assert "192 gpus, and this stack may have 100" in verdict.of("budget", "prod")


def test_a_config_that_the_schema_does_not_know_is_refused(stack: Stack) -> None:
    verdict = stack.checked(config={"budget": {"nodes": "many"}}, fails=True)
    assert "budget: nodes: Invalid type. Expected: integer" in " ".join(verdict.result.text.split())


def test_every_rule_is_shown_to_stop_something() -> None:
    shown = {rule for _, rule, _ in MUTATIONS.values()} | {"isolation", "lending", "protected-storage", "login-sources"}
    assert shown == {rule.name for rule in RULES if not rule.name.endswith("-advice")}
