"""What each process of Slurm Bridge may do in Kubernetes: the calls that release 1.2 makes, and no others.

Plain data, so that a test can ask the API server about each rule. Groups whose kinds a cluster does not have (JobSet,
LeaderWorkerSet, the PodGroups of scheduler-plugins) may stand here: a rule for what is not there allows nothing."""

from typing import TypedDict

READ = ["get", "list", "watch"]
LEADER = ["get", "update", "patch"]


class _Needed(TypedDict):
    api_groups: list[str]
    resources: list[str]
    verbs: list[str]


class PolicyRule(_Needed, total=False):
    resource_names: list[str]


def rule(group: str, resources: list[str], verbs: list[str], names: list[str] | None = None) -> PolicyRule:
    made = PolicyRule(api_groups=[group], resources=resources, verbs=verbs)
    if names:
        made["resource_names"] = names
    return made


def leader(lease: str) -> list[PolicyRule]:
    """Of several pods one acts. Leave to make a lease cannot be bound to its name."""
    leases = "coordination.k8s.io"
    return [rule(leases, ["leases"], ["create"]), rule(leases, ["leases"], LEADER, [lease])]


# kube-scheduler with the bridge's plugin: it reads what scheduling depends on, and binds pods. It makes and fills
# claims for devices that Slurm has chosen.
SCHEDULER = [
    rule("", ["namespaces", "nodes"], READ),
    rule("", ["persistentvolumeclaims", "persistentvolumes"], [*READ, "update"]),
    rule("", ["pods"], [*READ, "patch"]),
    rule("", ["pods/binding"], ["create"]),
    rule("", ["pods/finalizers", "pods/status"], ["patch"]),
    rule("", ["events"], ["create", "patch", "update"]),
    rule("events.k8s.io", ["events"], ["create", "patch", "update"]),
    rule("apps", ["replicasets", "statefulsets"], READ),
    rule("batch", ["jobs"], ["get"]),
    rule("jobset.x-k8s.io", ["jobsets"], ["get"]),
    rule("leaderworkerset.x-k8s.io", ["leaderworkersets"], ["get"]),
    rule("scheduling.k8s.io", ["podgroups", "workloads"], ["get"]),
    rule("scheduling.k8s.io", ["podgroups/status"], ["patch", "update"]),
    rule("scheduling.x-k8s.io", ["podgroups"], ["get"]),
    rule("scheduling.x-k8s.io", ["podgroups/status"], ["patch", "update"]),
    rule("resource.k8s.io", ["deviceclasses", "resourceslices"], READ),
    rule("resource.k8s.io", ["resourceclaims"], [*READ, "create", "update", "delete"]),
    rule("resource.k8s.io", ["resourceclaims/status"], ["patch"]),
    rule("storage.k8s.io", ["csidrivers", "csinodes", "csistoragecapacities", "storageclasses"], READ),
    # It asks who reads its metrics.
    rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
    rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
]
SCHEDULER_LEASE = "bridge-scheduler"
SCHEDULER_OWN = leader(SCHEDULER_LEASE)

# They taint lent nodes, and end pods whose job has ended.
CONTROLLERS = [
    rule("", ["nodes"], [*READ, "patch"]),
    rule("", ["pods"], [*READ, "patch", "delete"]),
    rule("", ["pods/finalizers"], ["patch", "update"]),
    rule("resource.k8s.io", ["resourceslices"], READ),
    rule("resource.k8s.io", ["resourceclaims"], [*READ, "delete"]),
]
CONTROLLERS_LEASE = "69d5fe47.my.slinky.slurm.net"  # the release's own name for it
CONTROLLERS_OWN = [*leader(CONTROLLERS_LEASE), rule("", ["events"], ["create", "patch"])]

# It looks only at the labels of namespaces, and at classes of devices that pods ask for.
ADMISSION = [rule("", ["namespaces"], READ), rule("resource.k8s.io", ["deviceclasses"], READ)]


def steward(token: str, deployments: list[str]) -> list[PolicyRule]:
    """In the bridge's namespace: it writes one Secret, and restarts those who have read it."""
    return [
        rule("", ["secrets"], ["get", "patch"], [token]),
        rule("apps", ["deployments"], ["get", "patch"], deployments),
    ]


# In the cluster's own namespace: where the workers are.
STEWARD_PODS = [rule("", ["pods"], ["list"])]
# It labels machines that are lent.
STEWARD_NODES = [rule("", ["nodes"], ["list", "patch"])]
