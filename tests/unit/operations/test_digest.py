"""One word for the whole of Slurm's files, the same here and in the controller's pod."""

import os
import subprocess
from pathlib import Path

import pytest

from operations import push
from operations.digest import DIGEST, digest

FILES = {
    "slurm.conf": "ClusterName=x\n",
    "cgroup.conf": "",
    "Zebra.conf": "capitals come first in the C locale\n",
    "a-b.conf": "without a newline at the end",
    "a.conf": "ä ö ü\n",
}


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    """As a mounted ConfigMap has it."""
    (tmp_path / "..data").mkdir()
    return tmp_path


def shell(script: str, folder: Path, *words: str) -> str:
    """What the pod is asked, with another folder and no slurmctld."""
    moved = script.replace("/etc/slurm", str(folder))
    assert moved != script
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    argv = ["sh", "-s", *words]
    return subprocess.run(argv, input=moved, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("files", [FILES, {"slurm.conf": "x\n"}], ids=["several", "one"])
def test_the_digest_is_what_the_controllers_pod_computes(files: dict[str, str], mounted: Path) -> None:
    for name, text in files.items():
        (mounted / name).write_text(text)
    assert shell(DIGEST, mounted).strip() == digest(files)


def test_the_pod_tells_old_files_from_new_ones(mounted: Path) -> None:
    (mounted / "slurm.conf").write_text("x\n")
    assert shell(push.LOOK, mounted, digest({"slurm.conf": "x\n"}), "2") == "down\n"  # no slurmctld here
    assert shell(push.LOOK, mounted, digest({"slurm.conf": "y\n"}), "2") == "old\n"


def test_any_change_of_any_file_is_another_digest() -> None:
    changed = [
        {**FILES, "a.conf": "other"},
        {**FILES, "new.conf": ""},
        {name: text for name, text in FILES.items() if name != "cgroup.conf"},
        {("b.conf" if name == "a.conf" else name): text for name, text in FILES.items()},
    ]
    assert len({digest(files) for files in [FILES, *changed]}) == 5
    assert digest(dict(reversed(FILES.items()))) == digest(FILES)
