"""The way that ssh takes to a node: only Slurm's nodes, only with a job there, and with a key that makes itself."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.unit.images.test_node_names import slurm_conf

SCRIPT = Path(__file__).parents[3] / "images" / "common" / "slipway" / "ssh-node"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(
        slurm_conf(gpu={"size": 3}, burst={"size": 1, "kind": "dynamic", "maxSize": 3})
    )
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(home: Path, name: str, text: str) -> None:
    (home / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    (home / "bin" / name).chmod(0o755)


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HOME": str(home), "CONF": str(home / "slurm.conf"), **more}
    env["PATH"] = f"{home}/bin:{env['PATH']}"
    return subprocess.run([SCRIPT, *words], env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("worker-0", True),
        ("gpu-2", True),
        ("burst-1", True),
        ("login-0", False),
        ("work-0", False),
        ("gpu", False),
        ("gpu-", False),
        ("example.com", False),
        (".*-0", False),
        ("$(id)-0", False),
        ("", False),
    ],
)
def test_only_slurms_own_nodes_are_reached_through_it(home: Path, host: str, found: bool) -> None:
    assert (run(home, "is", host).returncode == 0) == found


def test_without_slurms_files_no_host_is_a_node(home: Path) -> None:
    (home / "slurm.conf").unlink()
    done = run(home, "is", "worker-0")
    assert done.returncode != 0
    assert not done.stderr


def test_without_a_job_there_it_says_so_and_starts_nothing(home: Path) -> None:
    program(home, "squeue", "true")
    program(home, "srun", f"touch {home}/started")
    done = run(home, "to", "worker-0")
    assert done.returncode == 1
    assert done.stderr == "Access denied: you have no active jobs on worker-0\n"
    assert not (home / "started").exists()


def test_it_is_a_step_of_the_newest_job_there_whatever_job_it_is_called_in(home: Path) -> None:
    program(home, "squeue", 'echo "$*" > ~/asked; echo 12; echo 7')
    program(home, "srun", 'echo "$*"; env | grep ^SLURM_')
    done = run(home, "to", "worker-0", SLURM_JOB_ID="99", SLURM_NTASKS="8", SLURM_CONF="/x")
    line, *told = done.stdout.splitlines()
    assert "--me " in (home / "asked").read_text()
    assert "--nodelist=worker-0" in (home / "asked").read_text()
    assert {"--jobid=12", "--overlap", "--nodelist=worker-0", "--unbuffered"} <= set(line.split())
    assert line.endswith("ssh-node serve")
    assert told == ["SLURM_CONF=/x"]


def test_its_key_is_made_once_and_is_the_users_alone(home: Path) -> None:
    env = {**os.environ, "HOME": str(home)}
    running = [subprocess.Popen([SCRIPT, "known", "worker-0"], env=env, stdout=subprocess.PIPE) for _ in range(4)]
    said = {each.communicate()[0].decode() for each in running}
    assert len(said) == 1
    [line] = said
    assert line.startswith("worker-0 ssh-ed25519 ")
    key = home / ".ssh" / "slurm_node"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(each.name for each in key.parent.iterdir()) == ["slurm_node", "slurm_node.pub"]
    assert run(home, "known", "worker-0").stdout == line
