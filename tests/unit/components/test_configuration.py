"""Slurm's files under one name, and the commands that bring the running Slurm to them, each in its turn."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from components.change import Change
from slurm.render import render
from tests.unit.components import stacks
from tests.unit.components.deployed import Made, Resource, deploy, is_secret, key_text, leaves, plain

HOUSE = Path(__file__).parents[3]
TOLD = {
    "SLIPWAY_NAMESPACE": "science",
    "SLIPWAY_NODES": "worker-[0-1],gpu-0,burst-[0-2]",
    "SLIPWAY_AUTOSCALED": "",
    "SLIPWAY_DOMAIN": "science.svc.cluster.local",
    "SLIPWAY_MAX_UNAVAILABLE": "worker=1,gpu=1,burst=1",
    "SLIPWAY_DRAIN_SECONDS": "600",
    "SLIPWAY_DRAIN_ON_TIMEOUT": "fail",
    "SLIPWAY_AUTH_KEY": hashlib.sha256(key_text("operations/run keys munge").encode()).hexdigest()[:12],
}


@pytest.fixture
def shrinking() -> Made:
    """A stack whose NodeSet `worker` has lost nodes, after two updates that did not end."""
    return deploy(Change(frozenset({"worker"}), repairs=2), **stacks.RICH)


def commands(made: Made) -> dict[str, Resource]:
    name = made.settings.cluster.name
    return {what: made.command(f"{name}-{what}") for what in ("prepare", "apply", "roll")}


def test_the_config_map_holds_the_rendered_files_and_nothing_else(made: Made) -> None:
    assert made("ConfigMap", "slurm-config").data == render(made.settings)


def test_the_config_map_is_changed_in_place(small: Made) -> None:
    """A provider that replaces it would also restart what mounts it."""
    [provider] = [each for each in small.resources if each.name == "dev-kubernetes"]
    assert provider.inputs["enableConfigMapMutable"] in (True, "true")
    assert small("ConfigMap", "slurm-config").provider.startswith(provider.urn)


def test_the_stack_wins_over_files_that_a_failed_update_has_put_back(small: Made) -> None:
    """It has become theirs by that, and Kubernetes would refuse the engine's."""
    assert small("ConfigMap", "slurm-config").metadata["annotations"]["pulumi.com/patchForce"] == "true"


def test_commands_are_told_by_their_environment_so_that_a_change_is_an_update(munge: Made) -> None:
    made = commands(munge)
    assert made["prepare"].inputs["environment"] == TOLD
    assert made["apply"].inputs["environment"] == {**TOLD, "SLIPWAY_WRITTEN": "41", "SLIPWAY_REPAIRS": "0"}
    rolled = dict(made["roll"].inputs["environment"])
    assert (
        rolled.pop("SLIPWAY_TOKEN_KEY")
        == munge.pod("StatefulSet", "controller").metadata["annotations"]["slipway/jwt-key"]
    )
    assert rolled == {**TOLD, "SLIPWAY_GENERATIONS": "worker:7 gpu:7 burst:7"}
    for command in made.values():
        assert "triggers" not in command.inputs


def test_files_go_to_commands_by_stdin_and_a_preview_shows_them_once(munge: Made) -> None:
    made = commands(munge)
    for what in ("prepare", "apply"):
        stdin = made[what].inputs["stdin"]
        assert is_secret(stdin), what
        assert json.loads(plain(stdin)) == render(munge.settings)
    assert "stdin" not in made["roll"].inputs
    for command in made.values():
        assert not [text for text in leaves(command.inputs) if "ClusterName" in text]


def test_apply_runs_whenever_the_config_map_was_written(munge: Made) -> None:
    """Also with files that it ran with before: after a failed update, those of the last good one are such."""
    written = munge("ConfigMap", "slurm-config")
    assert commands(munge)["apply"].inputs["environment"]["SLIPWAY_WRITTEN"] == "41"
    assert munge.waits_for(commands(munge)["apply"], written)


def test_apply_runs_after_an_update_that_did_not_end(shrinking: Made) -> None:
    assert commands(shrinking)["apply"].inputs["environment"]["SLIPWAY_REPAIRS"] == "2"
    assert shrinking.outputs["deployed"]["repairs"] == 2


def test_no_nodes_are_waited_for_where_there_are_none(given: Made) -> None:
    for command in commands(given).values():
        assert command.inputs["environment"]["SLIPWAY_NODES"] == ""


def test_drains_without_a_limit_are_told_as_such() -> None:
    made = deploy(drain={"timeout": "unlimited", "onTimeout": "cancel"})
    environment = commands(made)["prepare"].inputs["environment"]
    assert environment["SLIPWAY_DRAIN_SECONDS"] == "inf"
    assert environment["SLIPWAY_DRAIN_ON_TIMEOUT"] == "cancel"


def test_a_command_is_the_same_at_first_and_ever_after_on_every_machine(made: Made) -> None:
    for what, command in commands(made).items():
        assert command.inputs["create"] == command.inputs["update"] == f"operations/run {what}"
        assert "delete" not in command.inputs
        assert "dir" not in command.inputs
        for text in command.inputs["environment"].values():
            assert "/" not in text, text


def test_what_a_command_said_last_is_not_told_to_the_next(made: Made) -> None:
    """It would be another environment each time, and so a change."""
    for command in commands(made).values():
        assert command.inputs["addPreviousOutputInEnv"] is False


def test_what_commands_call_is_there_and_can_be_run(made: Made) -> None:
    for command in made.of("Command"):
        for key in ("create", "update", "delete"):
            if text := command.inputs.get(key):
                assert os.access(HOUSE / text.split()[0], os.X_OK), text


def test_pods_of_new_nodes_come_when_what_goes_is_empty_and_before_slurm_hears_of_them(munge: Made) -> None:
    for name in ("worker", "gpu", "burst"):
        pods = munge("StatefulSet", name)
        assert munge.waits_for(pods, commands(munge)["prepare"]), name
        assert munge.waits_for(munge("ConfigMap", "slurm-config"), pods), name


def test_pods_of_old_nodes_go_when_slurm_knows_them_no_more(shrinking: Made) -> None:
    made = commands(shrinking)
    worker = shrinking("StatefulSet", "worker")
    assert shrinking.waits_for(worker, made["apply"])
    assert not shrinking.waits_for(made["apply"], worker)
    for name in ("gpu", "burst"):
        assert shrinking.waits_for(made["apply"], shrinking("StatefulSet", name)), name


def test_files_are_written_before_a_new_controller_starts_and_applied_to_it(munge: Made, shrinking: Made) -> None:
    for made in (munge, shrinking):
        written, controller = made("ConfigMap", "slurm-config"), made("StatefulSet", "controller")
        assert made.waits_for(written, commands(made)["prepare"])
        assert made.waits_for(controller, written)
        assert made.waits_for(commands(made)["apply"], controller)


def test_worker_pods_are_replaced_last(munge: Made, shrinking: Made) -> None:
    for made in (munge, shrinking):
        roll = commands(made)["roll"]
        assert made.waits_for(roll, commands(made)["apply"])
        for name in ("worker", "gpu", "burst"):
            assert made.waits_for(roll, made("StatefulSet", name)), name


def test_a_node_set_is_where_it_was_whether_it_shrinks_or_not(munge: Made, shrinking: Made) -> None:
    """Another parent would be another resource, and its pods would all go."""
    assert shrinking("StatefulSet", "worker").urn == munge("StatefulSet", "worker").urn
    assert list(shrinking.outputs["nodeSets"]) == list(munge.outputs["nodeSets"])
    told = [commands(made)["roll"].inputs["environment"]["SLIPWAY_GENERATIONS"] for made in (munge, shrinking)]
    assert told[0] == told[1], "and nothing is rolled for it"
