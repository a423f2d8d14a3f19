"""Where the tests of an upgrade get the last release from."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.cluster.upgrade import previous


def git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def test_the_record_names_one_commit_in_full() -> None:
    assert re.fullmatch("[0-9a-f]{40}", previous.commit())


def test_a_clone_without_that_commit_is_told_how_to_get_it(tmp_path: Path) -> None:
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "--message=another")
    with pytest.raises(AssertionError, match=f"git fetch --depth=1 origin {previous.commit()}"):
        previous.unpack(tmp_path / "files", tmp_path)


def test_its_files_come_from_the_history_and_not_from_the_working_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone, files = tmp_path / "clone", tmp_path / "files"
    clone.mkdir()
    files.mkdir()
    git(clone, "init")
    (clone / "program").write_text("of before")
    git(clone, "add", "program")
    git(clone, "commit", "--message=before")
    (clone / "program").write_text("of now")
    monkeypatch.setattr(previous, "commit", lambda: "HEAD")
    previous.unpack(files, clone)
    assert (files / "program").read_text() == "of before"
