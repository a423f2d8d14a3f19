"""Pinned images from allowed registries."""

import pytest

from policies.examples import FIRST, UNKNOWN, changed, cluster, finding, findings, worker
from policies.reading import Resource
from policies.rules.images import RULES

DIGEST = "@sha256:" + "0" * 64
OURS = "registry.example.com/slipway/worker"


def pod(image: str) -> Resource:
    return changed(worker(), f"{FIRST}.image", image)


@pytest.mark.parametrize("image", [f"{OURS}:26.05-1", f"{OURS}{DIGEST}", f"{OURS}:1{DIGEST}", "localhost/slipway/a:1"])
def test_fixed_images_pass(image: str) -> None:
    assert findings(RULES, cluster(), pod(image)) == []


@pytest.mark.parametrize("image", [OURS, f"{OURS}:latest"])
def test_moving_images_are_stopped(image: str) -> None:
    assert "can be another image tomorrow" in finding(RULES, cluster(), pod(image))


def test_production_asks_for_a_digest() -> None:
    production = cluster(stage="production")
    assert "has no digest, and this stack is production" in finding(RULES, production, pod(f"{OURS}:26.05-1"))
    assert findings(RULES, production, pod(f"{OURS}:26.05-1{DIGEST}")) == []


@pytest.mark.parametrize("image", ["elsewhere.example.com/worker:1", "registry.example.com/slipway-not/worker:1"])
def test_other_registries_are_stopped_unless_allowed(image: str) -> None:
    assert "none of the allowed registries" in finding(RULES, cluster(), pod(image))
    assert findings(RULES, cluster(), pod(image), registries=[image.rpartition("/")[0]]) == []


def test_a_port_is_no_tag() -> None:
    said = findings(RULES, cluster(), pod("registry.example.com:5000/worker"), registries=["registry.example.com:5000"])
    assert len(said) == 1
    assert "can be another image" in said[0]


@pytest.mark.parametrize("image", ["", "a@sha256:short"])
def test_what_is_no_image_is_stopped(image: str) -> None:
    assert findings(RULES, cluster(), pod(image))


def test_what_is_not_known_yet_is_stopped() -> None:
    assert "known only after the update" in finding(RULES, cluster(), pod(UNKNOWN))
