"""The bridge's accounts may do what its programs do, and nothing else; and the API server takes every object."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml

from tests.cluster.bridge.conftest import MANAGED, PARTS, UNMANAGED, Bridged
from tests.cluster.changes import change

READ = "get list watch"
# What each process of Slurm Bridge 1.2 asks for, by the name of its account: verbs, resource, namespace.
NEEDED: dict[str, list[tuple[str, str, str]]] = {
    "scheduler": [
        (f"{READ} patch", "pods", MANAGED),
        ("create", "pods/binding", MANAGED),
        ("patch", "pods/status", MANAGED),
        (READ, "nodes", ""),
        (READ, "namespaces", ""),
        (f"{READ} update", "persistentvolumeclaims", MANAGED),
        (f"{READ} update", "persistentvolumes", ""),
        (READ, "storageclasses.storage.k8s.io", ""),
        (READ, "csinodes.storage.k8s.io", ""),
        (READ, "replicasets.apps", MANAGED),
        (READ, "statefulsets.apps", MANAGED),
        ("get", "jobs.batch", MANAGED),
        ("create patch", "events", MANAGED),
        ("create patch", "events.events.k8s.io", MANAGED),
        (READ, "resourceslices.resource.k8s.io", ""),
        (READ, "deviceclasses.resource.k8s.io", ""),
        (f"{READ} create delete", "resourceclaims.resource.k8s.io", MANAGED),
        ("create", "leases.coordination.k8s.io", "own"),
        ("get update", "leases.coordination.k8s.io/bridge-scheduler", "own"),
    ],
    "controllers": [
        (f"{READ} patch", "nodes", ""),
        (f"{READ} patch delete", "pods", MANAGED),
        (READ, "resourceslices.resource.k8s.io", ""),
        ("get delete", "resourceclaims.resource.k8s.io", MANAGED),
        ("create", "leases.coordination.k8s.io", "own"),
        ("get update", "leases.coordination.k8s.io/69d5fe47.my.slinky.slurm.net", "own"),
    ],
    "admission": [(READ, "namespaces", "")],
}
FORBIDDEN: list[tuple[str, str, str, str]] = [
    ("scheduler", "get list", "secrets", MANAGED),
    ("scheduler", "create delete", "pods", MANAGED),
    ("scheduler", "patch delete", "nodes", ""),
    ("scheduler", "create", "pods/exec", MANAGED),
    ("scheduler", "update", "leases.coordination.k8s.io", "kube-system"),
    ("scheduler", "get", "configmaps", UNMANAGED),
    ("controllers", "get list", "secrets", "own"),
    ("controllers", "get list", "secrets", "cluster"),
    ("controllers", "create", "pods", MANAGED),
    ("controllers", "create", "pods/binding", MANAGED),
    ("controllers", "create delete", "nodes", ""),
    ("controllers", "create", "pods/exec", MANAGED),
    ("controllers", "update", "leases.coordination.k8s.io", "kube-node-lease"),
    ("admission", "list patch delete", "pods", MANAGED),
    ("admission", "get", "secrets", "own"),
    ("admission", "get list", "nodes", ""),
    ("admission", "update", "namespaces", ""),
    ("admission", "update", "mutatingwebhookconfigurations.admissionregistration.k8s.io", ""),
    *((part, "impersonate", "users", "") for part in PARTS),
    *((part, "create", "clusterrolebindings.rbac.authorization.k8s.io", "") for part in PARTS),
    *((part, "escalate", "clusterroles.rbac.authorization.k8s.io", "") for part in PARTS),
    *((part, "create", "serviceaccounts/token", "own") for part in PARTS),
]


def can(bridged: Bridged, questions: list[tuple[str, str, str, str]]) -> dict[str, bool]:
    """What `kubectl auth can-i` says to each of them, several at a time."""
    places = {"own": bridged.own, "cluster": bridged.stack.namespace}

    def ask(part: str, verb: str, resource: str, where: str) -> tuple[str, bool]:
        name, _, sub = resource.partition("/")
        named = sub if "." in name and sub else ""  # an object's own name, where there is one
        what = [f"{name}/{sub}"] if named else [name, *([f"--subresource={sub}"] if sub else [])]
        within = ["-n", places.get(where, where)] if where else []
        account = f"--as=system:serviceaccount:{bridged.own}:bridge-{part}"
        argv = ["kubectl", "--kubeconfig", str(bridged.stack.lab.kubeconfig), "auth", "can-i", verb]
        done = subprocess.run([*argv, *what, *within, account], capture_output=True, text=True, timeout=120)
        assert done.stdout.strip() in ("yes", "no"), done.stderr
        return f"{part} {verb} {resource} {where}", done.stdout.strip() == "yes"

    single = [(part, verb, resource, where) for part, verbs, resource, where in questions for verb in verbs.split()]
    with ThreadPoolExecutor(4) as pool:
        return dict(pool.map(lambda each: ask(*each), single))


def test_each_account_may_do_what_its_program_does(bridged: Bridged) -> None:
    answers = can(bridged, [(part, *each) for part, asked in NEEDED.items() for each in asked])
    assert [question for question, allowed in answers.items() if not allowed] == []


def test_no_account_may_do_more(bridged: Bridged) -> None:
    answers = can(bridged, FORBIDDEN)
    assert len(answers) > 20
    assert [question for question, allowed in answers.items() if allowed] == []


def test_no_role_of_the_bridge_has_a_star(bridged: Bridged) -> None:
    roles = [f"{bridged.stack.namespace}-bridge-{part}" for part in (*PARTS, "steward")]
    for role in json.loads(bridged.kubectl("get", "clusterroles", *roles, "-o", "json"))["items"]:
        for rule in role["rules"]:
            assert "*" not in [*rule["verbs"], *rule["resources"], *rule["apiGroups"]], role["metadata"]["name"]


def test_the_api_server_takes_every_object_of_every_variant(bridged: Bridged) -> None:
    """Those of a stack that says the opposite of this one, wherever it can be said."""
    stack, before = bridged.stack, bridged.stack.file.read_text()
    change(
        stack,
        "bridge",
        managedNamespaces=[],
        managedNamespaceSelector={"matchLabels": {"slurm": "yes"}},
        failurePolicy="Ignore",
        replicas=2,
        schedulerName="another-scheduler",
    )
    try:
        done = stack.pulumi("preview", "--json", "--show-sames")
    finally:
        stack.file.write_text(before)
    assert done.returncode == 0, done.stdout + done.stderr
    objects = list(planned(json.loads(done.stdout)))
    kinds = {each["kind"] for each in objects if "-bridge" in json.dumps(each["metadata"])}
    assert kinds >= {"Namespace", "Deployment", "Service", "ServiceAccount", "ConfigMap", "ClusterRole", "Secret"}
    assert kinds >= {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "PodDisruptionBudget"}
    apply = ["apply", "--server-side", "--force-conflicts", "--field-manager=dry", "--dry-run=server", "-f", "-"]
    said = bridged.kubectl(*apply, stdin=yaml.safe_dump_all(objects))
    assert said.count("serverside-applied") == len(objects)


def planned(preview: dict[str, Any]) -> Any:
    """Every Kubernetes object of a preview. Values that are secret are not in it: others of the same kind stand in."""
    for step in preview["steps"]:
        state = step.get("newState", {})
        inputs = state.get("inputs", {})
        if not state.get("type", "").startswith("kubernetes:") or "kind" not in inputs or step["op"] == "delete":
            continue
        if inputs["kind"] == "Secret":
            inputs = {key: value for key, value in inputs.items() if key not in ("data", "stringData")}
            if inputs.get("type") == "kubernetes.io/tls":
                inputs["data"] = {"tls.crt": "", "tls.key": ""}
        yield {key: value for key, value in inputs.items() if not key.startswith("__")}
