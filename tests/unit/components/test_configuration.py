"""Slurm's files under one name, and the command that brings the running Slurm to them."""

import os
import subprocess
from pathlib import Path

import pytest

from components.configuration import digest
from operations import apply
from slurm.render import render
from tests.unit.components.deployed import Made

HOUSE = Path(__file__).parents[3]


def test_the_config_map_holds_the_rendered_files_and_nothing_else(made: Made) -> None:
    assert made("ConfigMap", "slurm-config").data == render(made.settings)


def test_the_config_map_is_changed_in_place(small: Made) -> None:
    """A provider that replaces it would also restart what mounts it."""
    [provider] = [each for each in small.resources if each.name == "dev-kubernetes"]
    assert provider.inputs["enableConfigMapMutable"] in (True, "true")
    assert small("ConfigMap", "slurm-config").provider.startswith(provider.urn)


FILES = {
    "slurm.conf": "ClusterName=x\n",
    "cgroup.conf": "",
    "Zebra.conf": "capitals come first in the C locale\n",
    "a-b.conf": "without a newline at the end",
    "a.conf": "ä ö ü\n",
}


@pytest.mark.parametrize("files", [FILES, {"slurm.conf": "x\n"}], ids=["several", "one"])
def test_the_digest_is_what_the_controllers_pod_computes(files: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    # As a mounted ConfigMap has it.
    (folder / "..data").mkdir()
    # What the pod is asked, with another folder and no slurmctld.
    script = apply.LOOK.replace("/etc/slurm", str(folder))
    assert script != apply.LOOK
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    run = ["sh", "-s"]
    seen = subprocess.run(run, input=script, env=environment, capture_output=True, text=True, check=True)
    assert seen.stdout.split()[0] == digest(files)


def test_any_change_of_any_file_is_another_digest() -> None:
    changed = [
        {**FILES, "a.conf": "other"},
        {**FILES, "new.conf": ""},
        {name: text for name, text in FILES.items() if name != "cgroup.conf"},
        {("b.conf" if name == "a.conf" else name): text for name, text in FILES.items()},
    ]
    assert len({digest(files) for files in [FILES, *changed]}) == 5
    assert digest(dict(reversed(FILES.items()))) == digest(FILES)


def test_the_command_is_told_by_its_environment_so_that_a_change_is_an_update(munge: Made) -> None:
    command = munge.command("hpc-apply")
    assert command.inputs["environment"] == {
        "SLIPWAY_NAMESPACE": "science",
        "SLIPWAY_CONFIG": digest(render(munge.settings)),
        "SLIPWAY_NODES": "worker-[0-1],gpu-0,burst-[0-2]",
        "SLIPWAY_DOMAIN": "science.svc.cluster.local",
        "SLIPWAY_MAX_UNAVAILABLE": "worker=1,gpu=1,burst=1",
        "SLIPWAY_DRAIN_SECONDS": "600",
        "SLIPWAY_DRAIN_ON_TIMEOUT": "fail",
        "SLIPWAY_GENERATIONS": "worker:7 gpu:7 burst:7",  # it runs again when Kubernetes has seen another template
    }
    assert "triggers" not in command.inputs


def test_no_nodes_are_waited_for_where_there_are_none(given: Made) -> None:
    assert given.command("dev-apply").inputs["environment"]["SLIPWAY_NODES"] == ""


def test_the_command_is_the_same_at_first_and_ever_after_on_every_machine(made: Made) -> None:
    command = made.command(f"{made.settings.cluster.name}-apply").inputs
    assert command["create"] == command["update"]
    for text in (command["create"], *command["environment"].values()):
        assert "/" not in text.replace("operations/run", ""), text
    assert "dir" not in command


def test_what_commands_call_is_there_and_can_be_run(made: Made) -> None:
    for command in made.of("Command"):
        for key in ("create", "update", "delete"):
            if text := command.inputs.get(key):
                assert os.access(HOUSE / text.split()[0], os.X_OK), text


def test_slurm_is_brought_to_the_files_when_everything_that_it_is_made_of_is_there(munge: Made) -> None:
    command = munge.command("hpc-apply")
    assert munge.waits_for(command, munge("ConfigMap", "slurm-config"))
    for name in ("controller", "worker", "gpu", "burst"):
        assert munge.waits_for(command, munge("StatefulSet", name)), name
