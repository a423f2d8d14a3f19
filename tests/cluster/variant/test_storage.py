"""Volumes inside the shared root: the same in sessions and in jobs, on every node."""

import pytest

from tests.cluster.stacks import Stack
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
