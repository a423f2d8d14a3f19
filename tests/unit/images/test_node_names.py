"""The search list of the shared root follows the NodeSets of slurm.conf."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import Settings
from slurm.render import render

SCRIPT = Path(__file__).parents[3] / "images" / "common" / "slipway" / "node-names"
POD = "search science.svc.cluster.local svc.cluster.local\nnameserver 192.0.2.10\noptions ndots:5\n"


def slurm_conf(**node_sets: dict[str, object]) -> str:
    entries = {"slipway:cluster.namespace": "science", "slipway:images.registry": "registry.example.com"}
    loaded = Settings.load(
        entries
        | {
            f"slipway:nodeSets.{name}.{key}": str(value)
            for name, each in node_sets.items()
            for key, value in each.items()
        },
        {},
    )
    return render(loaded)["slurm.conf"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A pod's folder, with the script at work in it."""
    (tmp_path / "pod").write_text(POD)
    (tmp_path / "resolv.conf").write_text(POD)
    env = {**os.environ, "CONF": str(tmp_path / "slurm.conf"), "OWN": str(tmp_path), "POD": str(tmp_path / "pod")}
    with subprocess.Popen([SCRIPT], env=env) as process:
        yield tmp_path
        process.kill()


def comes_to(file: Path, text: str) -> None:
    deadline = time.monotonic() + 20
    while file.read_text() != text:
        assert time.monotonic() < deadline, file.read_text()
        time.sleep(0.05)


def shows(search: str) -> str:
    return f"nameserver 192.0.2.10\nsearch {search}science.svc.cluster.local svc.cluster.local\n"


def test_static_and_dynamic_node_sets_are_found_as_they_come_and_go(folder: Path) -> None:
    names = folder / "resolv.conf"
    same = names.stat().st_ino  # what is mounted in the shared root is this very file
    (folder / "slurm.conf").write_text(slurm_conf())
    comes_to(names, shows("worker.science.svc.cluster.local "))
    (folder / "new").write_text(
        slurm_conf(gpu={"size": 1}, burst={"size": 1, "kind": "dynamic", "maxSize": 3}),
    )
    (folder / "new").rename(folder / "slurm.conf")
    three = "worker.science.svc.cluster.local gpu.science.svc.cluster.local burst.science.svc.cluster.local "
    comes_to(names, shows(three))
    (folder / "slurm.conf").write_text(slurm_conf())
    comes_to(names, shows("worker.science.svc.cluster.local "))
    assert names.stat().st_ino == same


def test_other_options_stay(folder: Path) -> None:
    (folder / "pod").write_text(POD.replace("ndots:5", "timeout:1 ndots:5 edns0"))
    (folder / "slurm.conf").write_text(slurm_conf())
    text = shows("worker.science.svc.cluster.local ").replace("search", "options timeout:1 edns0\nsearch")
    comes_to(folder / "resolv.conf", text)
