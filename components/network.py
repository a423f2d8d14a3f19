"""`NetworkPolicies`: who may speak to whom in the cluster's namespace, and nobody else. Only with `network.policies`.

One table says who opens connections to which ports of whom; the policy of each component follows from its lines. What
comes from the node that a pod runs on, such as the kubelet's probes, no policy forbids."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pulumi
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components import bridge_pods, monitoring, pods
from components.bridge_steward import STEWARD
from components.login import LOGIN, SSH
from components.options import child
from components.power import autoscaled
from config import Settings
from slurm import places

WORKER = "worker"
CONTROLLER, ACCOUNTING, DATABASE, REST = places.CONTROLLER, places.ACCOUNTING, places.DATABASE, places.REST
# Sessions and jobs: what users open from there is their own affair, and what it reaches has doors of its own.
OF_USERS = (LOGIN, WORKER)
NAMESPACE = "kubernetes.io/metadata.name"  # Kubernetes' own label of every namespace


class Ports(NamedTuple):
    """A port, or a range of them."""

    first: int
    last: int | None = None
    protocol: str = "TCP"


class Flow(NamedTuple):
    """Connections that are opened from one component to another. No ports: to all of them."""

    source: str
    target: str
    ports: tuple[Ports, ...] = ()


SACKD = Ports(places.SLURMD_PORT)  # where slurmctld tells it of another configuration
DNS = (Ports(53, protocol="UDP"), Ports(53))
# Of the API server: that of its Service, and the one behind it, which most clusters have on either of the two.
KUBERNETES = (Ports(443), Ports(6443))
UNPRIVILEGED = Ports(1024, 65535)
EVERYTHING: dict[str, Any] = {}


def flows(settings: Settings) -> Iterator[Flow]:
    """Who opens connections to whom inside the cluster."""
    slurmctld, slurmd, slurmdbd = (
        Ports(each) for each in (places.SLURMCTLD_PORT, places.SLURMD_PORT, places.SLURMDBD_PORT)
    )
    srun = _srun(settings)
    yield Flow(LOGIN, CONTROLLER, (slurmctld,))
    yield Flow(WORKER, CONTROLLER, (slurmctld,))
    # slurmctld starts jobs, and tells srun and salloc, wherever they run, what has become of theirs.
    yield Flow(CONTROLLER, WORKER, (slurmd, srun))
    yield Flow(CONTROLLER, LOGIN, (SACKD, srun))
    # Tasks have their input and output from the srun that started them.
    yield Flow(WORKER, LOGIN, (srun,))
    # slurmd, and what people serve in their jobs: notebooks, debuggers.
    yield Flow(LOGIN, WORKER)
    # slurmd hands messages on, and MPI listens anywhere.
    yield Flow(WORKER, WORKER)
    if settings.controller.backup:
        yield Flow(CONTROLLER, CONTROLLER, (slurmctld,))
    if settings.accounting.enabled:
        for each in (CONTROLLER, LOGIN, WORKER, *([REST] if settings.rest.enabled else [])):
            yield Flow(each, ACCOUNTING, (slurmdbd,))
        yield Flow(ACCOUNTING, CONTROLLER, (slurmctld,))  # of limits and accounts that have changed
        if not settings.accounting.database:
            yield Flow(ACCOUNTING, DATABASE, (Ports(places.MARIADB_PORT),))
    if settings.rest.enabled:
        yield Flow(REST, CONTROLLER, (slurmctld,))
        for each in (*OF_USERS, *([STEWARD] if settings.bridge.enabled else [])):
            yield Flow(each, REST, (Ports(places.SLURMRESTD_PORT),))


def _srun(settings: Settings) -> Ports:
    """Where srun and salloc listen: any free port, unless the stack names some."""
    stated = str(settings.slurm.extra.get("SrunPortRange", ""))
    first, _, last = stated.partition("-")
    return Ports(int(first), int(last)) if first.isdigit() and last.isdigit() else UNPRIVILEGED


def doors(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """What is let in from elsewhere, by component."""
    found: dict[str, list[dict[str, Any]]] = {LOGIN: [{"ports": _ports([Ports(SSH)])}]}
    http = {"ports": _ports([Ports(places.SLURMRESTD_PORT)])}
    if settings.rest.service.outside:
        found[REST] = [http]
    elif callers := _callers(settings):
        found[REST] = [{"from": _namespaces(callers), **http}]
    if settings.monitoring.enabled and settings.network.metrics_from:
        metrics = _ports([Ports(monitoring.PORT)])
        found[CONTROLLER] = [{"from": _namespaces(settings.network.metrics_from), "ports": metrics}]
    return found


def _callers(settings: Settings) -> list[str]:
    """Namespaces whose pods may use the HTTP interface."""
    return [*settings.network.rest_from, *([settings.bridge_namespace] if settings.bridge.enabled else [])]


def beyond(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """What is let out, by component, to addresses that nobody here knows. Kubernetes mounts volumes, not the pods."""
    mail, database = settings.slurm.mail, settings.accounting.database
    outside = [
        *(KUBERNETES if autoscaled(settings) or settings.health.enabled else ()),
        *([Ports(mail.smtp.port)] if mail and mail.smtp else []),
    ]
    found = {each: [EVERYTHING] for each in OF_USERS}
    if mail and mail.program:
        found[CONTROLLER] = [EVERYTHING]  # a program of the user's own, which may speak to anyone
    elif outside:
        found[CONTROLLER] = [{"ports": _ports(outside)}]
    if database:
        found[ACCOUNTING] = [{"ports": _ports([Ports(database.port)])}]
    if settings.bridge.enabled:
        found[STEWARD] = [{"ports": _ports(KUBERNETES)}]
    return found


def policies(settings: Settings) -> dict[str, dict[str, Any]]:
    """The policy of each component that has pods, by its name."""
    table = list(flows(settings))
    let_in, let_out = doors(settings), beyond(settings)

    def policy(name: str) -> dict[str, Any]:
        taken = [_rule("from", settings, flow.source, flow.ports) for flow in table if flow.target == name]
        opened = [_rule("to", settings, flow.target, flow.ports) for flow in table if flow.source == name]
        out = let_out.get(name, [])
        return {
            "podSelector": {"matchLabels": pods.labels(settings, name)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [*taken, *let_in.get(name, [])],
            "egress": [EVERYTHING] if EVERYTHING in out else [{"ports": _ports(DNS)}, *opened, *out],
        }

    return {name: policy(name) for name in dict.fromkeys(each for flow in table for each in (flow.target, flow.source))}


def of_the_bridge(settings: Settings) -> dict[str, dict[str, Any]]:
    """The policies of the bridge's own namespace. All three ask the API server, and two of them slurmrestd."""
    slurmrestd = {
        "to": [{**_namespaces([settings.cluster.namespace])[0], **_pods(settings, REST)}],
        "ports": _ports([Ports(places.SLURMRESTD_PORT)]),
    }
    # It is the API server that asks, from an address that nobody here knows.
    asked = {bridge_pods.ADMISSION: [{"ports": _ports([Ports(bridge_pods.HTTPS)])}]}
    return {
        name: {
            "podSelector": {"matchLabels": pods.labels(settings, name)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": asked.get(name, []),
            "egress": [{"ports": _ports((*DNS, *KUBERNETES))}, *([] if name in asked else [slurmrestd])],
        }
        for name in (bridge_pods.SCHEDULER, bridge_pods.CONTROLLERS, bridge_pods.ADMISSION)
    }


def _rule(side: str, settings: Settings, other: str, ports: Sequence[Ports]) -> dict[str, Any]:
    return {side: [_pods(settings, other)], **({"ports": _ports(ports)} if ports else {})}


def _pods(settings: Settings, component: str) -> dict[str, Any]:
    return {"podSelector": {"matchLabels": pods.labels(settings, component)}}


def _ports(ports: Sequence[Ports]) -> list[dict[str, Any]]:
    return [
        {"protocol": each.protocol, "port": each.first, **({"endPort": each.last} if each.last else {})}
        for each in ports
    ]


def _namespaces(names: Sequence[str]) -> list[dict[str, Any]]:
    return [{"namespaceSelector": {"matchLabels": {NAMESPACE: name}}} for name in names]


# For every pod of the namespace that no other policy names: the Jobs that fill the shared root, the standby, strangers.
NOTHING: Mapping[str, Any] = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


class NetworkPolicies(pulumi.ComponentResource):
    """A policy for each component, and one that shuts out everything else: made last, and taken away first."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        specs: Mapping[str, Mapping[str, Any]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:NetworkPolicies", name, None, opts)
        made = [
            self._policy(name, settings, namespace, component, spec, child(self)) for component, spec in specs.items()
        ]
        self._policy(name, settings, namespace, "default", NOTHING, child(self, *made))
        self.register_outputs({})

    def _policy(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        policy: str,
        spec: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
    ) -> NetworkPolicy:
        metadata: Any = {"name": policy, "namespace": namespace, "labels": pods.labels(settings, "network")}
        return NetworkPolicy(f"{name}-network-{policy}", metadata=metadata, spec=dict(spec), opts=opts)  # pyright: ignore[reportArgumentType]
