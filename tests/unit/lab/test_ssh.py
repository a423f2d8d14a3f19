"""The lab's key is one that ssh takes, stays the same, and is in the lab's environment."""

import subprocess
from pathlib import Path

import pytest

from lab import ssh
from lab.layout import Lab


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    return Lab("x", 2)


def test_both_halves_of_the_key_belong_together_and_only_the_owner_reads_them(lab: Lab) -> None:
    assert ssh.variables(lab) == {}
    ssh.make_key(lab)
    variables = ssh.variables(lab)
    private = Path(variables["SLIPWAY_LAB_SSH_KEY"])
    told = subprocess.run(["ssh-keygen", "-y", "-f", private], capture_output=True, text=True, check=True).stdout
    assert variables["SLIPWAY_SSH_KEY"].split()[:2] == told.split()[:2]
    assert private.stat().st_mode & 0o077 == 0


def test_the_key_is_made_once_and_again_only_if_it_was_never_finished(lab: Lab) -> None:
    ssh.make_key(lab)
    first = ssh.variables(lab)
    ssh.make_key(lab)
    assert ssh.variables(lab) == first
    ssh.key(lab).with_suffix(".pub").unlink()
    ssh.make_key(lab)
    assert ssh.variables(lab)["SLIPWAY_SSH_KEY"] != first["SLIPWAY_SSH_KEY"]


def test_the_command_for_people_brings_the_labs_key_and_host_keys(lab: Lab) -> None:
    folder = lab.home / "ssh"
    assert ssh.command(lab, "ssh -p 30022 researcher@127.0.0.3") == (
        f"ssh -i {folder}/id_ed25519 -o UserKnownHostsFile={folder}/known_hosts -p 30022 researcher@127.0.0.3"
    )
