"""Who may speak to whom: read from the policies as Kubernetes would read them."""

from typing import Any

import pytest

from components.network import policies
from config import Settings
from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy, settings_of

ON: dict[str, Any] = {"network": {"policies": True}}
RICH: dict[str, Any] = {**stacks.RICH, **ON}
PORTS = {"ssh": 22, "slurmctld": 6817, "slurmd": 6818, "slurmdbd": 6819, "rest": 6820, "mariadb": 3306, "metrics": 9341}


@pytest.fixture
def shut() -> Made:
    """A stack with everything, and network policies."""
    return deploy(**RICH)


class Pod:
    """Labels of a pod, and of its namespace."""

    def __init__(self, settings: Settings, component: str = "", namespace: str = "") -> None:
        self.labels = {
            "app.kubernetes.io/part-of": "slipway",
            "app.kubernetes.io/instance": settings.cluster.name,
            "app.kubernetes.io/name": component,
        }
        self.namespace = namespace or settings.cluster.namespace
        self.policies = [
            each for each in policies(settings).values() if each["podSelector"]["matchLabels"] == self.labels
        ]
        if not namespace and not self.policies:
            self.policies = [{}]  # the default one, which allows nothing

    def allows(self, side: str, other: "Pod", port: int, protocol: str, home: str) -> bool:
        if self.namespace != home:
            return True  # no policy of ours is for it
        peers = "from" if side == "ingress" else "to"
        return any(
            _matches(rule, peers, other, home) and _has(rule.get("ports"), port, protocol)
            for policy in self.policies
            for rule in policy.get(side, [])
        )


def _matches(rule: dict[str, Any], peers: str, other: Pod, home: str) -> bool:
    def one(peer: dict[str, Any]) -> bool:
        if "namespaceSelector" in peer:
            return peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] == other.namespace
        return other.namespace == home and peer["podSelector"]["matchLabels"].items() <= other.labels.items()

    return peers not in rule or any(map(one, rule[peers]))


def _has(ports: list[dict[str, Any]] | None, port: int, protocol: str) -> bool:
    return ports is None or any(
        each["protocol"] == protocol and each["port"] <= port <= each.get("endPort", each["port"]) for each in ports
    )


def may(settings: Settings, source: Pod | str, target: Pod | str, port: int, protocol: str = "TCP") -> bool:
    """Whether a connection comes about: one side lets it out, and the other lets it in."""
    home = settings.cluster.namespace
    source = Pod(settings, source) if isinstance(source, str) else source
    target = Pod(settings, target) if isinstance(target, str) else target
    return source.allows("egress", target, port, protocol, home) and target.allows(
        "ingress", source, port, protocol, home
    )


# Each line: who, and where of all that listens they come through.
EXPECTED = {
    "controller": {"controller": "", "worker": "slurmd", "login": "slurmd", "accounting": "slurmdbd"},
    "worker": {"controller": "slurmctld", "worker": "all", "accounting": "slurmdbd", "rest": "rest"},
    "login": {"controller": "slurmctld", "worker": "all", "accounting": "slurmdbd", "rest": "rest"},
    "accounting": {"controller": "slurmctld", "database": "mariadb"},
    "database": {},
    "rest": {"controller": "slurmctld", "accounting": "slurmdbd"},
    "controller-standby": {},
    "populate-jail": {},
}
COMPONENTS = ("controller", "worker", "login", "accounting", "database", "rest", "controller-standby", "populate-jail")
HIGH = {name: port for name, port in PORTS.items() if port >= 1024}


@pytest.mark.parametrize("source", EXPECTED)
def test_everyone_reaches_only_what_they_need(source: str) -> None:
    settings = settings_of(**RICH)
    # Users reach sshd, as everyone does; and every port of a login pod that srun may listen on is open to Slurm.
    for target in COMPONENTS:
        reached = {name for name, port in PORTS.items() if may(settings, source, target, port)}
        wanted = set(EXPECTED[source].get(target, "").split())
        if target == "login" and source in ("worker", "login"):
            wanted = {"ssh"} | (set(HIGH) if source == "worker" else set())
        if source == "controller" and target in ("worker", "login"):
            wanted = set(HIGH)
        assert reached == (set(PORTS) if wanted == {"all"} else wanted), f"{source} -> {target}"


def test_a_stranger_comes_to_the_doors_and_no_further() -> None:
    settings = settings_of(**{**RICH, "rest": {"enabled": True}})
    for stranger in (Pod(settings, namespace="elsewhere"), Pod(settings, "worker", namespace="elsewhere")):
        open_doors = [
            (each, name) for each in COMPONENTS for name, port in PORTS.items() if may(settings, stranger, each, port)
        ]
        assert open_doors == [("login", "ssh")]


def test_a_pod_without_a_component_reaches_nothing() -> None:
    settings = settings_of(**RICH)
    for component in ("", "populate-jail", "controller-standby"):
        assert not any(may(settings, component, each, port) for each in COMPONENTS for port in PORTS.values())
        assert not may(settings, component, Pod(settings, namespace="kube-system"), 443)


def test_the_http_interface_is_open_to_whom_the_stack_says() -> None:
    def reached(namespace: str, **rest: Any) -> bool:
        network = {**ON["network"], "restFrom": ["portal"]}
        settings = settings_of(**{**stacks.SMALL, "network": network, "rest": {"enabled": True, **rest}})
        return may(settings, Pod(settings, namespace=namespace), "rest", 6820)

    assert reached("portal")
    assert not reached("elsewhere")
    assert reached("elsewhere", service={"type": "LoadBalancer"})


def test_the_bridge_reaches_the_http_interface_and_nothing_else_of_the_cluster() -> None:
    settings = settings_of(**{**stacks.BRIDGED, **ON})
    for source in (Pod(settings, "bridge-controllers", settings.bridge_namespace), "bridge-steward"):
        reached = {
            (each, name) for each in COMPONENTS for name, port in PORTS.items() if may(settings, source, each, port)
        }
        assert reached - {("login", "ssh")} == {("rest", "rest")}
    assert may(settings, "bridge-steward", Pod(settings, namespace="default"), 443)


def test_the_bridges_own_namespace_is_shut_but_for_the_api_servers_questions() -> None:
    made = deploy(**{**stacks.BRIDGED, **ON})
    found = {
        each.metadata["name"]: each.spec
        for each in made.of("NetworkPolicy")
        if each.metadata["namespace"] == settings_of(**stacks.BRIDGED).bridge_namespace
    }
    assert set(found) == {"bridge-scheduler", "bridge-controllers", "bridge-admission", "default"}
    assert found["default"]["podSelector"] == {}
    taken = {
        name: [port["port"] for rule in spec.get("ingress", []) for port in rule["ports"]]
        for name, spec in found.items()
    }
    assert taken == {"bridge-scheduler": [], "bridge-controllers": [], "bridge-admission": [9443], "default": []}
    opened = {
        name: sorted(port["port"] for rule in spec.get("egress", []) for port in rule["ports"])
        for name, spec in found.items()
    }
    known = [53, 53, 443, 6443]
    assert opened == {
        "bridge-scheduler": [*known, 6820],
        "bridge-controllers": [*known, 6820],
        "bridge-admission": known,
        "default": [],
    }


def test_metrics_are_for_prometheus() -> None:
    network = {**ON["network"], "metricsFrom": ["monitoring"]}
    settings = settings_of(**{**stacks.SMALL, "network": network, "monitoring": {"enabled": True}})
    assert may(settings, Pod(settings, namespace="monitoring"), "controller", 9341)
    assert not may(settings, Pod(settings, namespace="monitoring"), "controller", 6817)
    assert not may(settings, Pod(settings, namespace="elsewhere"), "controller", 9341)


def test_a_second_controller_hears_of_the_first() -> None:
    assert not may(settings_of(**RICH), "controller", "controller", 6817)
    both = settings_of(**{**stacks.SMALL, **ON, "controller": {"backup": True}})
    assert may(both, "controller", "controller", 6817)


def test_ports_that_the_stack_leaves_to_srun_are_the_only_ones() -> None:
    stack = {**stacks.SMALL, **ON, "slurm": {"extra": {"SrunPortRange": "60001-60100"}}}
    settings = settings_of(**stack)
    for port, allowed in ((60001, True), (60100, True), (60101, False), (8888, False)):
        assert may(settings, "worker", "login", port) is allowed
        assert may(settings, "controller", "login", port) is allowed
    assert may(settings, "controller", "login", 6818), "sackd hears of no new configuration"
    assert not may(settings, "worker", "login", 6818)


OUTSIDE = "elsewhere"  # any address that is no pod of the cluster


@pytest.mark.parametrize(
    ("source", "port", "stack", "allowed"),
    [
        ("login", 443, {}, True),
        ("worker", 443, {}, True),
        ("controller", 443, {}, False),
        ("controller", 6443, {"health": {"enabled": True}}, True),
        ("controller", 443, {"worker": {"size": 2, "autoscale": {"min": 1}}}, True),
        ("controller", 25, {"slurm": {"mail": {"smtp": {"host": "mail", "sender": "a@b.org"}}}}, True),
        ("controller", 26, {"slurm": {"mail": {"smtp": {"host": "mail", "sender": "a@b.org"}}}}, False),
        ("controller", 443, {"slurm": {"mail": {"program": "#!/bin/sh\n"}}}, True),
        ("accounting", 3306, {"accounting": {"enabled": True}}, False),
        ("database", 443, {"accounting": {"enabled": True}}, False),
        ("rest", 443, {"rest": {"enabled": True}}, False),
    ],
)
def test_the_outside_is_for_those_who_have_business_there(
    source: str, port: int, stack: dict[str, Any], allowed: bool
) -> None:
    settings = settings_of(**{**stacks.SMALL, **ON, **stack})
    assert may(settings, source, Pod(settings, namespace=OUTSIDE), port) is allowed


def test_a_database_elsewhere_is_reached_and_none_is_expected_here() -> None:
    settings = settings_of(**{**stacks.SLURM, "network": {"policies": True, "restFrom": ["ingress"]}})
    database = settings.accounting.database
    assert database
    assert may(settings, "accounting", Pod(settings, namespace=OUTSIDE), database.port)
    assert "database" not in policies(settings)


def test_everyone_with_a_policy_can_look_up_names() -> None:
    settings = settings_of(**RICH)
    dns = Pod(settings, "coredns", namespace="kube-system")
    for component in policies(settings):
        assert may(settings, component, dns, 53, "UDP"), component
        assert may(settings, component, dns, 53), component


def test_every_pod_of_the_stack_is_meant_by_a_policy_of_its_own_or_by_the_default(shut: Made) -> None:
    named = {each.metadata["name"]: each.spec["podSelector"] for each in shut.of("NetworkPolicy")}
    assert named.pop("default") == {}
    for pod in shut.pods():
        own = [name for name, selector in named.items() if selector["matchLabels"].items() <= pod.labels.items()]
        listens = [port for each in pod.containers.values() for port in each.get("ports", [])]
        assert len(own) == (1 if listens else 0), f"{pod} has the policies {own}"


def test_what_a_container_listens_on_is_reached_by_somebody(shut: Made) -> None:
    settings = shut.settings
    for pod in shut.pods():
        component = pod.labels["app.kubernetes.io/name"]
        for port in [port for each in pod.containers.values() for port in each.get("ports", [])]:
            number = int(port["containerPort"])
            assert any(may(settings, source, component, number) for source in COMPONENTS), f"{pod}: {number}"


def test_everything_is_shut_only_when_the_doors_are_there(shut: Made) -> None:
    default = shut("NetworkPolicy", "default")
    assert default.spec == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for each in shut.of("NetworkPolicy"):
        assert each is default or shut.waits_for(default, each), each.name


def test_a_stack_that_does_not_ask_for_them_has_none(made: Made) -> None:
    assert not made.of("NetworkPolicy")
