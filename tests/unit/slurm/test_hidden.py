"""Secrets that somebody has written into Slurm's files are not shown."""

import pytest

from slurm.hidden import without_secrets


@pytest.mark.parametrize(
    "line",
    ["StoragePass=hunter2", "storagepass = hunter2", 'AccountingStoragePass="hunter2 x"', "  JobCompPass=hunter2 # no"],
)
def test_values_of_secret_keys_are_hidden_wherever_they_stand(line: str) -> None:
    shown = without_secrets(f"ClusterName=dev\n{line}\nStorageUser=slurm\n")
    assert "hunter2" not in shown
    assert shown.startswith("ClusterName=dev\n")
    assert shown.endswith("\nStorageUser=slurm\n")
    assert line.strip()[:10].lower() in shown.lower()


def test_a_file_that_is_a_key_is_hidden_as_a_whole() -> None:
    assert without_secrets("c2VjcmV0\n", "munge.key") == "(hidden)\n"


def test_what_is_no_secret_stays_byte_for_byte() -> None:
    text = "# StoragePass is added when the pod starts\nStorageUser=slurm\nJobCompPassScript=/x\n"
    assert without_secrets(text, "slurm.conf") == text
