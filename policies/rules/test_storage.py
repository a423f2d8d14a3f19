"""Storage that can be shared and outlives the stack, and load balancers that ask who is there."""

from dataclasses import replace

import pytest
from pulumi_policy import EnforcementLevel

from policies.examples import TOP, UNKNOWN, changed, cluster, controller, finding, findings, kubernetes
from policies.reading import BRIDGE, STORAGE, Resource
from policies.rules.storage import RULES

SHARED, PROTECTED, PROTECTED_ADVICE, SOURCES, SOURCES_ADVICE = ([rule] for rule in RULES)
PARENT = Resource(STORAGE, "dev", {}, "urn:storage", TOP)
DEVELOPMENT = cluster(stage="development")


def claim(*modes: str) -> Resource:
    made = kubernetes("PersistentVolumeClaim", "jail", spec={"accessModes": list(modes)})
    return replace(made, parent=PARENT.urn)


@pytest.mark.parametrize("modes", [(), ("ReadWriteOnce",), ("ReadWriteMany", "ReadWriteOnce")])
def test_storage_that_cannot_be_shared_is_stopped(modes: tuple[str, ...]) -> None:
    assert "Make them ReadWriteMany" in finding(SHARED, cluster(), PARENT, claim(*modes))


def test_shared_storage_passes_and_the_controllers_own_need_not_be() -> None:
    own = kubernetes("PersistentVolumeClaim", "controller-state", spec={"accessModes": ["ReadWriteOnce"]})
    assert findings(SHARED, cluster(), PARENT, claim("ReadWriteMany"), own) == []


@pytest.mark.parametrize("stored", [claim("ReadWriteMany"), kubernetes("Namespace", "slurm")])
def test_what_would_go_with_the_stack_is_stopped_and_in_development_only_said(stored: Resource) -> None:
    for stage in ("staging", "production"):
        assert "goes when the stack does" in finding(PROTECTED, cluster(stage=stage), PARENT, stored)
    assert findings(PROTECTED, DEVELOPMENT, PARENT, stored) == []
    assert "goes when the stack does" in finding(PROTECTED_ADVICE, DEVELOPMENT, PARENT, stored)
    assert findings(PROTECTED_ADVICE, cluster(), PARENT, stored) == []


def test_what_is_retained_or_protected_passes() -> None:
    stored = claim("ReadWriteMany")
    kept = [replace(stored, provider="dev-keeper"), replace(stored, protected=True)]
    assert findings(PROTECTED, cluster(), PARENT, *kept) == []


def test_the_namespace_of_the_bridge_holds_nothing_and_may_go() -> None:
    bridge = Resource(BRIDGE, "dev", {}, "urn:bridge", TOP)
    own = replace(kubernetes("Namespace", "slurm-bridge"), parent=bridge.urn)
    assert findings(PROTECTED, cluster(), bridge, own) == []
    stored = replace(claim("ReadWriteMany"), parent=bridge.urn)
    assert "goes when the stack does" in finding(PROTECTED, cluster(), bridge, stored)


def test_a_workload_does_not_delete_its_claims() -> None:
    mutated = changed(controller(), "spec.persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Delete"})
    assert "deletes claims" in finding(PROTECTED, cluster(), mutated)
    assert findings(PROTECTED, cluster(), controller()) == []


def login(**spec: object) -> Resource:
    return kubernetes("Service", "login", spec=spec)


@pytest.mark.parametrize("ranges", [[], ["0.0.0.0/0"], ["192.0.2.0/24", "::/0"], ["ours"]])
def test_an_open_load_balancer_is_stopped_and_in_development_only_said(ranges: list[str]) -> None:
    service = login(type="LoadBalancer", loadBalancerSourceRanges=ranges)
    assert "login.service.sourceRanges" in finding(SOURCES, cluster(), service)
    assert findings(SOURCES, DEVELOPMENT, service) == []
    assert "login.service.sourceRanges" in finding(SOURCES_ADVICE, DEVELOPMENT, service)


def test_a_load_balancer_for_some_and_other_services_pass() -> None:
    few = login(type="LoadBalancer", loadBalancerSourceRanges=["192.0.2.0/24"])
    assert findings(SOURCES, cluster(), few, login(type="NodePort"), login(clusterIP="None")) == []


def test_only_advice_is_advisory() -> None:
    levels = {rule.name: rule.level for rule in RULES}
    advisory = {name for name, level in levels.items() if level == EnforcementLevel.ADVISORY}
    assert advisory == {"protected-storage-advice", "login-sources-advice"}


def test_what_is_not_known_yet_is_stopped() -> None:
    hidden = [
        finding(SHARED, cluster(), PARENT, changed(claim(), "spec.accessModes", UNKNOWN)),
        finding(SOURCES, cluster(), login(type=UNKNOWN)),
        finding(SOURCES, cluster(), login(type="LoadBalancer", loadBalancerSourceRanges=[UNKNOWN])),
        finding(PROTECTED, cluster(stage=UNKNOWN), PARENT, claim()),
    ]
    assert all("known only after the update" in each for each in hidden)
