"""What a stack with `monitoring` makes: a container that answers, annotations, dashboards, and objects where it may."""

import json
from typing import Any

import pytest

from components import monitoring
from components.change import Change
from operations import record
from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy, settings_of

BOTH = ("PodMonitor", "PrometheusRule")


def watched(*kinds: str, **wishes: Any) -> Made:
    return deploy(Change(kinds=kinds), **stacks.SMALL, monitoring={"enabled": True, **wishes})


def test_a_stack_without_it_has_nothing_of_it(small: Made) -> None:
    pod = small.pod("StatefulSet", "controller")
    assert set(pod.containers) == {"state", "munge", "slurmctld", "rehearsal"}
    assert not [each for each in pod.metadata["annotations"] if each.startswith("prometheus.io")]
    assert not [name for name in small.names("ConfigMap") if name.startswith("dashboard")]
    assert not [each for each in small.resources if "Monitoring" in each.type]


def test_annotations_name_the_port_that_answers() -> None:
    pod = watched().pod("StatefulSet", "controller")
    [port] = pod.containers["metrics"]["ports"]
    assert pod.metadata["annotations"]["prometheus.io/scrape"] == "true"
    assert pod.metadata["annotations"]["prometheus.io/port"] == str(port["containerPort"])
    assert pod.metadata["annotations"]["prometheus.io/path"] == "/metrics"


def test_who_answers_can_only_look() -> None:
    pod = watched().pod("StatefulSet", "controller")
    container = pod.containers["metrics"]
    assert all(mount["readOnly"] for mount in container["volumeMounts"])
    assert not {"keys", "secret", "state"} & {mount["name"] for mount in container["volumeMounts"]}
    assert container["securityContext"]["runAsUser"] == 65534, "slurm may change Slurm's settings, and nobody may not"
    assert {mount["name"] for mount in container["volumeMounts"]} <= pod.volumes.keys()


def test_the_record_of_what_was_applied_need_not_be_there_yet() -> None:
    volume = watched().pod("StatefulSet", "controller").volumes["applied"]["configMap"]
    assert volume == {"name": record.NAME, "optional": True}


def test_memory_grows_with_the_cluster() -> None:
    def limit(size: int) -> str:
        made = deploy(**{**stacks.SMALL, "worker": {"size": size}}, monitoring={"enabled": True})
        return made.pod("StatefulSet", "controller").containers["metrics"]["resources"]["limits"]["memory"]

    assert limit(2) == "40Mi"
    assert limit(10000) == "80Mi"


def test_slurmdbd_is_asked_for_only_where_there_is_one() -> None:
    def command(**keys: Any) -> list[str]:
        made = deploy(**stacks.SMALL, monitoring={"enabled": True}, **keys)
        return made.pod("StatefulSet", "controller").containers["metrics"]["command"]

    assert "--accounting" not in command()
    assert "--accounting" in command(accounting={"enabled": True})


@pytest.mark.parametrize(
    ("kinds", "wishes", "made"),
    [
        ((), {}, set()),
        (BOTH, {}, set(BOTH)),
        (("PodMonitor",), {}, {"PodMonitor"}),
        (BOTH, {"rules": "off"}, {"PodMonitor"}),
        ((), {"podMonitor": "on"}, {"PodMonitor"}),
        (BOTH, {"podMonitor": "off", "rules": "off"}, set()),
    ],
)
def test_objects_are_made_where_the_cluster_has_their_kind_or_the_stack_says_so(
    kinds: tuple[str, ...], wishes: dict[str, str], made: set[str]
) -> None:
    found = [each for each in watched(*kinds, **wishes).resources if each.kind in BOTH]
    assert {each.kind for each in found} == made
    assert {each.inputs["apiVersion"] for each in found} <= {"monitoring.coreos.com/v1"}


def test_a_pod_monitor_selects_the_controller_and_its_port() -> None:
    made = watched(*BOTH, interval="15s")
    spec = made("PodMonitor", "slurm").spec
    labels = made.pod("StatefulSet", "controller").labels
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    [endpoint] = spec["podMetricsEndpoints"]
    assert endpoint == {"port": "metrics", "path": "/metrics", "interval": "15s", "scrapeTimeout": "10s"}


def test_rules_carry_the_thresholds_of_the_stack() -> None:
    alerts = {"jailPercent": 75, "queueStuck": "2h", "runbooks": "https://wiki.example.com/slurm/"}
    spec = watched(*BOTH, alerts=alerts)("PrometheusRule", "slurm").spec
    rules = {each["alert"]: each for each in spec["groups"][0]["rules"]}
    assert rules["SlurmQueueStuck"]["for"] == "7200s"
    assert rules["SlurmJailNearlyFull"]["expr"].count("> 75") == 2
    assert "> 90" not in rules["SlurmJailNearlyFull"]["expr"]
    pages = {each["annotations"]["runbook_url"] for each in rules.values()}
    assert pages == {f"https://wiki.example.com/slurm/{name}.md" for name in rules}


def test_the_file_of_alerts_has_the_defaults_of_the_config() -> None:
    import yaml

    settings = settings_of(**stacks.SMALL, monitoring={"enabled": True})
    file = yaml.safe_load((monitoring.FILES / "alerts.yaml").read_text())
    [queue] = [each for each in file["groups"][0]["rules"] if each["alert"] == "SlurmQueueStuck"]
    assert queue["for"] == "30m"
    queue["for"] = "1800s"
    assert monitoring.rules(settings) == file


def test_grafana_finds_the_dashboards_by_their_label() -> None:
    found = [each for each in watched().of("ConfigMap") if each.metadata["name"].startswith("dashboard-")]
    assert {each.metadata["name"].removeprefix("dashboard-") for each in found} == {
        "cluster",
        "jobs",
        "nodesets",
        "users",
    }
    for each in found:
        assert each.metadata["labels"]["grafana_dashboard"] == "1"
        [(name, text)] = each.data.items()
        assert json.loads(text)["uid"] == name.removesuffix(".json")
