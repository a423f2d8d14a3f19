"""Every Slurm pod is placed by the filter that the stack gives it, and by nothing else; never on a control plane."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policies.reading import WORKER, Cluster, Pod, Resource, Stack, plain, pod_of
from policies.rule import Rule, Settings

CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
KEPT_OFF = {"key": CONTROL_PLANE[0], "operator": "DoesNotExist"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# Workers stay where they are when their machine is lent to the bridge. It is no leave to go anywhere else.
BRIDGED = {"key": "slinky.slurm.net/managed-node", "operator": "Exists", "effect": "NoExecute"}
CHANGED = "Take away what changes the pod (a transform, an edit of components/), or change the filter."


def check(resource: Resource, stack: Stack, settings: Settings) -> Iterator[str]:
    pod = pod_of(resource)
    if pod is None:
        return
    yield from _off_the_control_plane(pod)
    cluster = stack.cluster_of(resource)
    if cluster is None:
        yield (
            f"{pod} belongs to no SlurmCluster, so that no node filter is declared for it. Make it part of one "
            "(`parent=`), or deploy it from a stack of its own."
        )
        return
    node_filter = cluster.node_filters.get(pod.node_filter)
    if node_filter is None:
        said = f"names the node filter `{pod.node_filter}`" if pod.node_filter else "names no node filter"
        known = ", ".join(sorted(cluster.node_filters))
        yield f"{pod} {said} in its label slipway/node-filter; `nodeFilters` has {known}. {CHANGED}"
        return
    yield from _as_declared(pod, cluster, settings["allowed"])
    yield from _exactly(pod, node_filter)


def _off_the_control_plane(pod: Pod) -> Iterator[str]:
    """Jobs are other people's programs, and the API server is everybody's."""
    for each in pod.spec.get("tolerations") or ():
        key = each.get("key")
        if not key and each.get("operator") == "Exists":
            yield (
                f"{pod} tolerates every taint ({plain(each)}), that of control-plane nodes too. Name the taints of its "
                f"own nodes in nodeFilters.{pod.node_filter or '<filter>'}.tolerations."
            )
        elif key in CONTROL_PLANE:
            yield f"{pod} tolerates the taint {key}: nothing of the cluster may run on control-plane nodes. {CHANGED}"
    for key in pod.spec.get("nodeSelector") or {}:
        if key in CONTROL_PLANE:
            yield f"{pod} selects control-plane nodes by the label {key}. {CHANGED}"
    if pod.spec.get("nodeName"):
        yield f"{pod} is bound to the node {pod.spec['nodeName']}, past every filter and taint. Leave nodeName out."
    terms = _required(pod.spec.get("affinity") or {}).get("nodeSelectorTerms") or [{}]
    if not all(KEPT_OFF in plain(term.get("matchExpressions") or []) for term in terms):
        yield (
            f"{pod} could land on a control-plane node: each of its nodeSelectorTerms must say "
            f"`{CONTROL_PLANE[0]} DoesNotExist`, as components/pods.py does. {CHANGED}"
        )


def _as_declared(pod: Pod, cluster: Cluster, allowed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The filter is the one of the pod's section in the stack, and one that its role may use."""
    declared = cluster.declared_filter(pod)
    if declared is None:
        what = f"NodeSet `{pod.node_set}`" if pod.role == WORKER else f"role `{pod.role}`"
        yield f"{pod} is of the {what}, which the stack does not declare. {CHANGED}"
    elif declared != pod.node_filter:
        section = pod.node_set if pod.role == WORKER else pod.role
        yield f"{pod} names the node filter `{pod.node_filter}`; the stack gives `{declared}` to {section}. {CHANGED}"
    if pod.role in allowed:
        if pod.node_filter not in allowed[pod.role]:
            yield (
                f"{pod}: the role {pod.role} may use {_named(allowed[pod.role])}, and uses `{pod.node_filter}`. Set "
                "another nodeFilter, or allow this one in the policy config (node-filters.allowed)."
            )
    elif pod.role == WORKER and pod.node_filter in cluster.roles.values():
        others = _named(sorted(role for role, used in cluster.roles.items() if used == pod.node_filter))
        yield (
            f"{pod} runs jobs on the nodes of {others} (nodeFilter `{pod.node_filter}`). Give workers a filter of "
            "their own, or allow this one in the policy config (node-filters.allowed.worker)."
        )


def _exactly(pod: Pod, node_filter: Mapping[str, Any]) -> Iterator[str]:
    """The pod carries what the filter says: nothing missing, nothing more."""
    where = f"nodeFilters.{pod.node_filter}"
    affinity = plain(pod.spec.get("affinity") or {})
    wanted = plain(node_filter["affinity"])
    pairs = {
        "nodeSelector": (plain(pod.spec.get("nodeSelector") or {}), plain(node_filter["nodeSelector"])),
        "tolerations": (_tolerations(pod), plain(node_filter["tolerations"])),
        "affinity.nodeAffinity": tuple(_own_terms(each.get("nodeAffinity", {})) for each in (affinity, wanted)),
        "affinity.podAffinity": (affinity.get("podAffinity", {}), wanted.get("podAffinity", {})),
    }
    for key, (found, said) in pairs.items():
        if found != said:
            yield f"{pod}: {key} is {found or 'empty'}, and {where}.{key} says {said or 'nothing'}. {CHANGED}"
    # More of these only narrows where the pod may be; the controller and its standby keep apart by them.
    apart = affinity.get("podAntiAffinity", {})
    for kind, terms in wanted.get("podAntiAffinity", {}).items():
        if missing := [term for term in terms if term not in apart.get(kind, [])]:
            yield f"{pod}: affinity.podAntiAffinity lacks {missing} of {where}.affinity. {CHANGED}"


def _tolerations(pod: Pod) -> list[Any]:
    """A pod's own, without the one that every worker has."""
    found = plain(pod.spec.get("tolerations") or [])
    return [each for each in found if each != BRIDGED] if pod.role == WORKER else found


def _own_terms(affinity: dict[str, Any]) -> dict[str, Any]:
    """A pod's node affinity without the condition that the filter need not state."""
    terms = []
    for term in affinity.get(REQUIRED, {}).get("nodeSelectorTerms", []):
        rest = [each for each in term.get("matchExpressions", []) if each != KEPT_OFF]
        bare = {key: value for key, value in term.items() if key != "matchExpressions"}
        terms.append({**bare, "matchExpressions": rest} if rest else bare)
    others = {key: value for key, value in affinity.items() if key != REQUIRED}
    return {**others, REQUIRED: {"nodeSelectorTerms": terms}} if any(terms) else others


def _required(affinity: Mapping[str, Any]) -> Mapping[str, Any]:
    return (affinity.get("nodeAffinity") or {}).get(REQUIRED) or {}


def _named(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"


RULES = [
    Rule(
        name="node-filters",
        about="Every Slurm pod carries exactly the node filter that the stack gives it, and keeps off control planes.",
        check=check,
        page="node_filters.md",
        settings={
            "allowed": {
                "type": "object",
                "description": (
                    "Filters that a role may use, by the role's name (worker, controller, login, rest, accounting and "
                    "so on). A role that is not listed may use any; workers, any that serves nobody else."
                ),
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
                "default": {},
                "examples": [{"worker": ["compute", "gpu"], "controller": ["system"]}],
            }
        },
    )
]
