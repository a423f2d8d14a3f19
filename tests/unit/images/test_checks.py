"""The built-in checks of a worker: each finds what it is there for, and says so in one line."""

import os
import subprocess
from pathlib import Path

import pytest

CHECKS = Path(__file__).parents[3] / "images" / "worker" / "checks"


class Node:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def command(self, name: str, text: str) -> None:
        (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.folder / "bin" / name).chmod(0o755)

    def run(self, check: str, places: dict[str, str] | None = None, **limits: str) -> tuple[int, str]:
        text = (CHECKS / check).read_text()
        for path, own in (places or {}).items():
            assert path in text
            text = text.replace(path, own)
        env = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HEALTH": str(self.folder),
            "NODE": "gpu-3",
            "NODE_SET": "gpu",
            **limits,
        }
        done = subprocess.run(["sh", "-s"], input=text, env=env, capture_output=True, text=True, timeout=30)
        assert done.stderr == ""
        assert done.stdout.count("\n") == (1 if done.returncode else 0), "one line for a finding, and none for none"
        return done.returncode, done.stdout.strip()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


WELL = (0, "")


@pytest.fixture
def jail(node: Node) -> Path:
    folder = node.folder / "jail"
    for name in (".slipway", "tmp", "home"):
        (folder / name).mkdir(parents=True)
    (folder / ".slipway" / "populated").write_text("image")
    node.command("mountpoint", f'! grep -qx "$2" {node.folder}/unmounted 2> /dev/null')
    return folder


def test_a_shared_root_that_is_there_is_well(node: Node, jail: Path) -> None:
    for _ in range(2):
        assert node.run("jail", MOUNTS=f"{jail} {jail}/home") == WELL
    assert (jail / ".slipway" / "nodes" / "gpu-3").exists()


def test_a_mount_that_is_gone_is_named(node: Node, jail: Path) -> None:
    (node.folder / "unmounted").write_text(f"{jail}/home\n")
    assert node.run("jail", MOUNTS=f"{jail} {jail}/home") == (1, f"nothing is mounted at {jail}/home")


def test_a_shared_root_that_is_not_whole_is_none(node: Node, jail: Path) -> None:
    (jail / ".slipway" / "populated").unlink()
    code, said = node.run("jail", MOUNTS=str(jail))
    assert (code, "is not the shared root" in said) == (1, True)


def test_a_shared_root_that_cannot_be_written_to_is_found_out(node: Node, jail: Path) -> None:
    node.command("touch", "echo 'Read-only file system' >&2; exit 1")
    assert node.run("jail", MOUNTS=str(jail)) == (1, f"{jail} cannot be written to")


DISKS = {"/var/spool/slurmd /mnt/tmp": "/spool /tmp-of-jobs"}
DF = 'case "$1 $2" in "--output=%s %s") printf "Use%%%%\\n %s\\n" ;; *) printf "Use%%%%\\n  50%%%%\\n" ;; esac'


def test_disks_with_room_are_well(node: Node) -> None:
    node.command("df", DF % ("pcent", "/spool", "95%%"))
    assert node.run("disk", DISKS, DISK_FREE="5") == WELL
    node.command("df", DF % ("ipcent", "/spool", "-"))
    assert node.run("disk", DISKS, DISK_FREE="5") == WELL, "a file system that does not count files"


@pytest.mark.parametrize(("what", "folder"), [("pcent", "/spool"), ("ipcent", "/tmp-of-jobs")])
def test_a_disk_that_is_nearly_full_is_named(node: Node, what: str, folder: str) -> None:
    node.command("df", DF % (what, folder, "96%%"))
    assert node.run("disk", DISKS, DISK_FREE="5") == (1, f"4% of {folder} are free, and 5% must be ({what})")


def test_memory_is_that_of_the_machine(node: Node) -> None:
    file = node.folder / "meminfo"
    places = {"/proc/meminfo": str(file)}
    limits = {"MEMORY_MIB": "worker=9999 gpu=1000", "MEMORY_FREE": "5"}
    file.write_text("MemTotal:  1024000 kB\nMemFree: 1 kB\nMemAvailable:  102400 kB\n")
    assert node.run("memory", places, **limits) == WELL
    file.write_text("MemTotal:  1023000 kB\nMemAvailable:  102400 kB\n")
    code, said = node.run("memory", places, **limits)
    assert (code, said) == (1, "the machine has 999 MiB of memory, and the NodeSet promises 1000")
    file.write_text("MemTotal:  1024000 kB\nMemAvailable:  51199 kB\n")
    assert node.run("memory", places, **limits) == (1, "49 MiB of the machine's memory are available, less than 5%")


def test_gpus_are_counted_by_nvidias_tool_or_by_their_files(node: Node) -> None:
    dev = node.folder / "dev"
    dev.mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (dev / name).touch()
    places = {"dev=/dev\n": f"dev={dev}\n"}
    assert node.run("gpus", places, GPUS="gpu=2") == WELL
    assert node.run("gpus", places, GPUS="gpu=3") == (1, "2 GPUs are there, and the NodeSet has 3")
    assert node.run("gpus", places, GPUS="other=8") == WELL, "a NodeSet without"
    node.command(
        "nvidia-smi", "echo 'GPU 0: H100 (UUID: GPU-1)'; echo 'Unable to determine the device handle'; exit 15"
    )
    assert node.run("gpus", places, GPUS="gpu=2") == (1, "1 GPUs are there, and the NodeSet has 2")


def test_a_clock_is_compared_with_slurmctlds(node: Node) -> None:
    node.command("date", "echo 1000100")
    node.command("sdiag", "echo '****'; echo 'sdiag output at Tue Jan 01 00:00:00 2027 (1000200)'")
    assert node.run("clock", CLOCK_OFFSET="30") == (1, "its clock is -100 s off slurmctld's")
    assert node.run("clock", CLOCK_OFFSET="100") == WELL
    node.command("sdiag", "echo 'sdiag output at Tue Jan 01 00:00:00 2027 (9000000)'")
    assert node.run("clock", CLOCK_OFFSET="30") == WELL, "it was good within the last ten minutes"


def test_a_silent_slurmctld_says_nothing_about_clocks(node: Node) -> None:
    node.command("sdiag", "exit 1")
    assert node.run("clock", CLOCK_OFFSET="30") == WELL
    assert not (node.folder / "clock").exists()
