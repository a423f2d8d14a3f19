"""`operations/run keys`: a new key on stdout, in base64, each time."""

import base64
import re
import subprocess
from pathlib import Path

import pytest

from operations import keys
from operations.__main__ import main

RUN = Path(__file__).parents[3] / "operations" / "run"


@pytest.mark.parametrize(("kind", "length"), [("munge", 1024), ("slurm", 1024), ("jwt", 64)])
def test_a_daemons_key_is_random_bytes_of_the_length_that_it_wants(kind: str, length: int, capsys) -> None:
    made = set()
    for _ in range(2):
        assert main(["keys", kind]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        made.add(base64.b64decode(printed.out, validate=True))
    assert [len(key) for key in made] == [length, length]
    assert all(len(set(key)) > length / 32 for key in made)  # nothing like zeros


def test_a_password_is_one_that_needs_no_quoting(capsys) -> None:
    made = set()
    for _ in range(2):
        assert main(["keys", "database"]) == 0
        made.add(base64.b64decode(capsys.readouterr().out, validate=True).decode())
    assert len(made) == 2
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in made)


def test_the_host_key_is_one_that_sshd_can_read(tmp_path: Path, capsys) -> None:
    public = set()
    for number in range(2):
        assert main(["keys", "host"]) == 0
        file = tmp_path / f"key{number}"
        file.write_bytes(base64.b64decode(capsys.readouterr().out, validate=True))
        file.chmod(0o600)
        assert file.read_text().startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")
        argv = ["ssh-keygen", "-y", "-P", "", "-f", str(file)]
        read = subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert read.stdout.startswith("ssh-ed25519 ")
        public.add(read.stdout)
    assert len(public) == 2


def test_nothing_of_a_host_key_stays_on_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    keys.make("host")
    assert list(tmp_path.iterdir()) == []


def test_the_script_finds_its_house_from_any_folder(tmp_path: Path) -> None:
    """And prints the key alone: whatever else stood on stdout would be part of it."""
    run = subprocess.run([RUN, "keys", "jwt"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(base64.b64decode(run.stdout, validate=True)) == 64
    assert run.stderr == ""


def test_the_script_hands_on_how_it_ends(tmp_path: Path) -> None:
    run = subprocess.run([RUN, "keys", "house"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.startswith("usage: operations/run ")
    assert run.stdout == ""


@pytest.mark.parametrize(
    "words", [[], ["keys"], ["keys", "house"], ["keys", "jwt", "munge"], ["apply", "now"], ["--help"]], ids=" ".join
)
def test_other_words_are_told_which_ones_there_are(words: list[str], capsys) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    for word in ("keys", "munge", "slurm", "jwt", "host", "apply"):
        assert word in said.err
