"""Resources as rules see them, for the tests beside the rules: a small cluster that every rule is content with."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pulumi_policy.proxy import unknown_checking_proxy

from policies.reading import CLUSTER, Resource, Stack
from policies.rule import Rule

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"  # how the engine writes a text that is not known yet
IMAGE = "registry.example.com/slipway/worker:26.05-1"
TOP = "urn:cluster"
OFF_THE_CONTROL_PLANE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "node-role.kubernetes.io/control-plane", "operator": "DoesNotExist"}]}
            ]
        }
    }
}
SIZE = {"cpu": "1", "memory": "1024Mi"}
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "runAsUser": 64030.0,
    "capabilities": {"drop": ["ALL"]},
}


def cluster(**declared: Any) -> Resource:
    """A `SlurmCluster` with one NodeSet of two nodes."""
    props = {
        "stage": "staging",
        "registry": "registry.example.com/slipway",
        "nodeFilters": {"system": node_filter(pool="system"), "compute": node_filter(pool="compute")},
        "roles": {"controller": "system", "login": "system", "rest": "system"},
        "nodeSets": {"worker": node_set()},
        "hostPaths": [],
        "lent": {"nodeSets": []},
    }
    return Resource(CLUSTER, "dev", {**props, **declared}, TOP)


def node_filter(**selector: str) -> dict[str, Any]:
    return {"nodeSelector": selector, "affinity": {}, "tolerations": []}


def node_set(**declared: Any) -> dict[str, Any]:
    plain = {"size": 2.0, "nodeFilter": "compute", "exclusive": False, "cpus": 1.0, "memoryMib": 1024.0}
    return {**plain, **declared}


def workload(kind: str, role: str, used: str, container: str, security: dict[str, Any] = RESTRICTED) -> Resource:
    """A workload whose pods have one container, on the nodes of a filter."""
    labels = {"app.kubernetes.io/name": role, "slipway/node-filter": used}
    spec = {
        "nodeSelector": {"pool": used},
        "affinity": OFF_THE_CONTROL_PLANE,
        "tolerations": [],
        "containers": [
            {
                "name": container,
                "image": IMAGE,
                "resources": {"requests": SIZE, "limits": SIZE},
                "securityContext": security,
            }
        ],
        "volumes": [],
    }
    props = {"metadata": {"name": role}, "spec": {"template": {"metadata": {"labels": labels}, "spec": spec}}}
    group = "batch" if kind == "Job" else "apps"
    return Resource(f"kubernetes:{group}/v1:{kind}", role, copy.deepcopy(props), f"urn:{role}", TOP)


def worker() -> Resource:
    made = workload("StatefulSet", "worker", "compute", "slurmd", {"privileged": True, "runAsUser": 0.0})
    made = changed(made, "spec.replicas", 2.0)
    return changed(made, "spec.template.metadata.labels.slipway/node-set", "worker")


def controller() -> Resource:
    return workload("StatefulSet", "controller", "system", "slurmctld")


def kubernetes(kind: str, name: str, **props: Any) -> Resource:
    """Any other object of the cluster."""
    return Resource(f"kubernetes:core/v1:{kind}", name, props, f"urn:{name}", TOP)


def changed(resource: Resource, path: str, value: Any) -> Resource:
    """The resource with something else at a place: `spec.template.spec.containers.0.image`."""
    props: Any = copy.deepcopy(dict(resource.props))
    *way, last = path.split(".")
    inside = props
    for key in way:
        inside = inside[int(key)] if isinstance(inside, list) else inside.setdefault(key, {})
    if isinstance(inside, list):
        inside[int(last)] = value
    else:
        inside[last] = value
    return replace(resource, props=props)


POD = "spec.template.spec"
FIRST = f"{POD}.containers.0"


def findings(rules: Sequence[Rule], *resources: Resource, **config: Any) -> list[str]:
    """What rules say of resources that come in this order, by way of the same proxies as in the engine."""
    stack = Stack()
    said: list[str] = []
    for each in resources:
        shown = replace(each, props=unknown_checking_proxy(dict(each.props)))
        stack.add(shown)
        said += [message for rule in rules for message in rule.findings(shown, stack, config)]
    return said


def finding(rules: Sequence[Rule], *resources: Resource, **config: Any) -> str:
    """The one thing that they say."""
    said = findings(rules, *resources, **config)
    if len(said) != 1:
        raise AssertionError(f"one finding was expected: {said}")
    return said[0]
