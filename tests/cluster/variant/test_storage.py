"""The shared root in a folder of the nodes, and volumes inside it: the same in sessions and in jobs, on every node."""

from pathlib import Path

import pytest

from tests.cluster.changes import change, uids
from tests.cluster.stacks import Stack
from tests.cluster.variant.conftest import GIVEN
from tests.cluster.variant.sessions import LOGINS, on

WHERE = ["", "srun ", "srun --partition=everything --constraint=fast "]  # in a session, in jobs on either NodeSet


@pytest.mark.parametrize("where", WHERE)
def test_homes_are_on_the_volume_that_is_mounted_there(variant: Stack, where: str) -> None:
    assert variant.run(f"{where}findmnt --noheadings --output=TARGET --target=/home/researcher") == "/home"
    assert variant.run(f"{where}stat --format='%U %a' /home/researcher") == "researcher 700"
    assert variant.run(f"{where}stat --format='%U %a' /home") == "root 755"
    assert variant.run(f"{where}pwd") == "/home/researcher"


def test_a_home_is_made_on_the_volume_and_not_below_it(variant: Stack) -> None:
    claim = variant.kubectl("get", "pvc", "-o", "name").split()
    assert [each for each in claim if each.startswith("persistentvolumeclaim/home-")]
    # The controller mounts the shared root without what is mounted inside it.
    assert variant.admin("ls", "/mnt/jail/home") == ""


def test_what_is_written_on_one_node_is_read_on_all(variant: Stack) -> None:
    variant.run("srun --partition=everything --constraint=fast bash -c 'hostname > ~/written'")
    assert {on(variant, each, "cat ~/written") for each in LOGINS} == {"burst-0"}
    assert variant.run("srun cat ~/written") == "burst-0"


@pytest.mark.parametrize(("pod", "container"), [("login-0", "sshd"), ("worker-0", "slurmd"), ("burst-0", "slurmd")])
def test_not_even_root_writes_to_a_volume_that_is_mounted_to_be_read(variant: Stack, pod: str, container: str) -> None:
    script = "touch /mnt/jail/data/reference/x 2>&1 || true"
    assert "Read-only file system" in variant.kubectl("exec", pod, "-c", container, "--", "sh", "-c", script)


@pytest.mark.parametrize("where", WHERE)
def test_a_volume_to_be_read_is_at_its_path(variant: Stack, where: str) -> None:
    shown = variant.run(f"{where}findmnt --noheadings --output=TARGET,OPTIONS --target=/data/reference").split()
    assert shown[0] == "/data/reference"
    assert "ro" in shown[1].split(",")


def folder(stack: Stack, claim: str = "") -> Path:
    """Where the machine has the shared root, or what is on a claim."""
    if not claim:
        return stack.lab.home / "volumes" / "variant-jail"
    volume = stack.kubectl("get", "pvc", claim, "-o", "jsonpath={.spec.volumeName}")
    path = stack.kubectl("get", "pv", volume, "-o", "jsonpath={.spec.hostPath.path}")
    return stack.lab.home / "volumes" / Path(path).name


@pytest.mark.parametrize("where", WHERE)
def test_the_shared_root_is_the_folder_of_the_nodes(variant: Stack, where: str) -> None:
    assert "persistentvolumeclaim/jail" not in variant.kubectl("get", "pvc", "-o", "name").split()
    root = folder(variant)
    assert (root / ".slipway" / "populated").read_text().strip() == variant.run(f"{where}cat /.slipway/populated")
    (root / "opt" / "from-outside").write_text("put there by an administrator\n")
    assert variant.run(f"{where}cat /opt/from-outside") == "put there by an administrator"


@pytest.mark.parametrize("where", WHERE)
def test_what_was_on_a_claim_before_the_stack_is_there(variant: Stack, where: str) -> None:
    claim = folder(variant, GIVEN)
    claim.chmod(0o755)  # whoever made it says who may look
    (claim / "genome").write_text("ACGT\n")
    assert variant.run(f"{where}cat /data/reference/genome") == "ACGT"


def test_a_root_that_is_filled_again_is_whole_and_people_keep_their_own(variant: Stack) -> None:
    root = folder(variant)
    (root / "usr" / "bin" / "tree").write_text("#!/bin/sh\necho broken\n")
    (root / "opt" / "own").write_text("installed by hand\n")
    variant.run("echo mine > ~/kept.txt")
    before, pods = variant.run("cat /etc/passwd"), uids(variant)
    jail = variant.config["slipway:storage"]["jail"]
    assert variant.run("tree") == "broken"
    try:
        change(variant, "storage", jail={**jail, "populate": {"overwrite": True}})
        variant.up()
    finally:
        change(variant, "storage", jail=jail)
    assert "tree v" in variant.run("tree --version")
    assert variant.run("cat /opt/own ~/kept.txt; cat /etc/passwd") == f"installed by hand\nmine\n{before}"
    assert [variant.run(f"{where}cat /opt/own") for where in WHERE] == ["installed by hand"] * 3
    assert uids(variant) == pods
