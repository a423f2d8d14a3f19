"""What is left out has a default that works, and what is stated can be read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from config import ConfigProblems, Settings
from config.images import ROLES
from config.types import MemorySize

LAB = {f"SLIPWAY_{role.upper()}_IMAGE": f"localhost/{role}:1" for role in ROLES}
HOUSE = Path(__file__).parents[3]


def test_everything_but_the_images_has_a_default() -> None:
    settings = Settings.load({}, LAB)
    assert settings.cluster.namespace == "slurm"
    assert settings.images.reference("controller") == "localhost/controller:1"
    assert list(settings.all_node_sets) == ["worker"]
    assert [name for name, each in settings.partitions.items() if each.default] == ["main"]


def test_an_image_in_the_stack_comes_before_the_labs_own() -> None:
    stack = {"slipway:images": '{"controller": "registry/controller:2"}'}
    assert Settings.load(stack, LAB).images.reference("controller") == "registry/controller:2"


def test_a_registry_names_all_images_that_are_not_named_in_full() -> None:
    stack = {"slipway:images": '{"registry": "hub.example.com/hpc", "tag": "7", "login": "other/login:1"}'}
    images = Settings.load(stack, LAB).images
    assert images.reference("controller") == "hub.example.com/hpc/controller:7"
    assert images.reference("login") == "other/login:1"


def test_an_image_that_nobody_names_is_a_problem_only_for_an_update() -> None:
    with pytest.raises(ConfigProblems, match=r"slipway:images\.controller: no image is named"):
        Settings.load({}, {})
    assert Settings().images.named("controller") is None
    with pytest.raises(LookupError):
        Settings().images.reference("controller")


def test_keys_of_other_packages_are_none_of_our_business() -> None:
    assert Settings.load({"kubernetes:context": "x"}, LAB) == Settings.load({}, LAB)


def test_settings_are_a_value_that_nobody_changes() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().cluster.name = "other"  # type: ignore[misc]


def test_what_is_written_back_reads_the_same() -> None:
    settings = Settings.from_stack_file(HOUSE / "Pulumi.prod.yaml")
    written = settings.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert Settings.model_validate(written, by_alias=True, by_name=False) == settings


def test_a_jail_without_a_source_is_on_the_nodes() -> None:
    jail = Settings.load({"slipway:storage.jail.populate.overwrite": "true"}, LAB).storage.jail
    assert jail.sources == ["hostPath"]
    assert jail.populate.overwrite


def test_a_login_service_that_only_names_its_port_stays_a_node_port() -> None:
    service = Settings.load({"slipway:login.service.nodePort": "30022"}, LAB).login.service
    assert (service.type, service.node_port) == ("NodePort", 30022)


def test_slurm_may_hand_out_all_memory_unless_less_is_stated() -> None:
    settings = Settings.load({"slipway:worker.memory": "2Gi"}, LAB)
    assert settings.worker.real_memory_mib == 2048
    assert settings.worker.model_copy(update={"real_memory": MemorySize.parse("1Gi")}).real_memory_mib == 1024


def test_a_dynamic_node_set_needs_room_for_its_largest_size() -> None:
    stack = {"slipway:nodeSets": '{"burst": {"kind": "dynamic", "size": 0, "maxSize": 64}}'}
    assert Settings.load(stack, LAB).node_sets["burst"].capacity == 64


def test_slurms_own_keys_are_kept_in_the_spelling_of_the_manual() -> None:
    stack = {"slipway:slurm.extra.schedulerparameters": "bf_continue", "slipway:worker.extra.TMPDISK": "100"}
    settings = Settings.load(stack, LAB)
    assert settings.slurm.extra == {"SchedulerParameters": "bf_continue"}
    assert settings.worker.extra == {"TmpDisk": "100"}


def test_the_example_of_a_production_environment_is_valid() -> None:
    settings = Settings.from_stack_file(HOUSE / "Pulumi.prod.yaml")
    assert [name for name, each in settings.all_node_sets.items() if each.gpus] == ["a100", "h100"]
    assert settings.login.service.type == "LoadBalancer"
    assert settings.login.service.source_ranges
    assert settings.storage.jail.sources == ["storageClass"]
    assert settings.accounting.enabled


def test_the_dev_environment_is_valid() -> None:
    assert Settings.from_stack_file(HOUSE / "Pulumi.dev.yaml").cluster.name == "dev"


@pytest.mark.parametrize(
    ("accounting", "lists"),
    [
        ({}, {"allowAccounts": ["physics", "root"], "denyQos": ["night"]}),
        ({"accounts": {"physics": {}}}, {"allowAccounts": ["physics", "root"], "denyQos": ["night"]}),
        ({"qos": {"long": {}}}, {"allowAccounts": ["guests"], "allowQos": ["normal", "long"]}),
    ],
)
def test_accounts_and_qos_are_managed_elsewhere_where_none_is_declared(
    accounting: dict[str, Any], lists: dict[str, list[str]]
) -> None:
    config = {"accounting": {"enabled": True, **accounting}, "partitions": {"main": {"default": True, **lists}}}
    assert Settings.load({f"slipway:{key}": json.dumps(value) for key, value in config.items()}, LAB)


def test_small_pods_fill_what_large_ones_leave() -> None:
    config = {
        "nodeFilters": {"system": {}, "compute": {"nodes": 2, "nodeCpus": 10}},
        "worker": {"size": 2, "cpus": 6},
        "nodeSets": {"small": {"size": 4, "cpus": 2}, "none": {"size": 0, "cpus": 10}},
    }
    assert Settings.load({f"slipway:{key}": json.dumps(value) for key, value in config.items()}, LAB)
