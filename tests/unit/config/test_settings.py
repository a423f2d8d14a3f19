"""Stack config is checked as a whole, and each problem names its key."""

import pytest
from pydantic import ValidationError

from config import Settings
from config.settings import problems

IMAGE = {"SLIPWAY_PROBE_IMAGE": "localhost/probe:1"}


def test_everything_but_the_images_has_a_default() -> None:
    settings = Settings.load({}, IMAGE)
    assert settings.cluster.namespace == "slurm"
    assert settings.images.probe == "localhost/probe:1"


def test_an_image_in_the_stack_comes_before_the_labs_own() -> None:
    assert Settings.load({"slipway:images": '{"probe": "registry/probe:2"}'}, IMAGE).images.probe == "registry/probe:2"


def test_keys_of_other_packages_are_none_of_our_business() -> None:
    assert Settings.load({"kubernetes:context": "x"}, IMAGE) == Settings.load({}, IMAGE)


def test_every_problem_is_reported_with_its_key() -> None:
    stack = {"slipway:clustr": "x", "slipway:nodeFilters": '{"a": {"nodeSelectr": {}}}'}
    with pytest.raises(ValidationError) as raised:
        Settings.load(stack, {})
    said = problems(raised.value)
    for key in ("slipway:clustr", "slipway:nodeFilters.a.nodeSelectr", "slipway:images.probe"):
        assert key in said
