"""The page for Prometheus: whose a drain is, what counts as drift, and that what is not known is not told."""

import importlib.util
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from operations import drift, rehearse, verify
from operations.digest import digest
from operations.shown import Shown

SCRIPT = Path(__file__).parents[3] / "images" / "controller" / "metrics"


def load() -> dict[str, Any]:
    """Its modules, which find each other as they do in the image."""
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(SCRIPT))
    try:
        main = importlib.util.spec_from_file_location("slipway_metrics", SCRIPT / "__main__.py")
        assert main
        assert main.loader
        module = importlib.util.module_from_spec(main)
        main.loader.exec_module(module)
        return {"main": module, **{name: sys.modules.pop(name) for name in ("asking", "nodes", "shown", "exporter")}}
    finally:
        sys.path.remove(str(SCRIPT))
        sys.dont_write_bytecode = writes


loaded = load()
page, asking, nodes, compared, exporter = (loaded[name] for name in ("main", "asking", "nodes", "shown", "exporter"))

NODE = (
    "NodeName=worker-{} CoresPerSocket=1  CPUTot=2 AvailableFeatures=(null) Gres=gpu:2(S:0-1) RealMemory=1000 "
    "Sockets=2 Boards=1 State={} ThreadsPerCore=1 Weight=1 Port=6818 Reason={}"
)
PARTITION = "PartitionName={} AllowGroups=ALL MaxTime={} Nodes=worker-[0-1] State=UP TotalCPUs=4 TotalNodes=2"
CONFIG = "BOOT_TIME = {}\nHASH_VAL = {}\nKillWait = {} sec\nNEXT_JOB_ID = 7\nSlurmctldPort = {}\n"


def shown(killwait: int = 30, maxtime: str = "1:00:00", port: int = 6817, boot: str = "", match: str = "Match") -> str:
    nodes = "\n".join(NODE.format(number, "IDLE", "") for number in range(2))
    config = CONFIG.format(boot or "2026-01-01T00:00:00", match, killwait, port)
    partition = PARTITION.format("main", maxtime)
    return f"=== config\n{config}=== partitions\n{partition}\n=== nodes\n{nodes}\n"


@pytest.mark.parametrize(
    ("reason", "by", "whose"),
    [
        ("slipway:stopping", "root", "slipway"),
        ("slipway:stopping", "alice", "slipway"),
        ("Not responding", "slurm", "none"),
        ("Low RealMemory (reported:900 < 100.00% of configured:1000)", "slurm", "none"),
        ("gres/gpu count reported lower than configured (0 < 4)", "slurm", "none"),
        ("Kill task failed", "root", "none"),
        ("Prolog error", "root", "none"),
        ("Node unexpectedly rebooted", "slurm", "none"),
        ("", "", "none"),
        ("disk is bad", "slurm", "person"),  # from the controller's pod, where everybody is slurm
        ("new disk", "root", "person"),
        ("Not responding", "alice", "person"),
    ],
)
def test_a_reason_tells_who_sees_to_it(reason: str, by: str, whose: str) -> None:
    assert nodes.owner(reason, by) == whose


@pytest.mark.parametrize(
    ("state", "kind", "out"),
    [
        ("IDLE", "idle", ""),
        ("MIXED+CLOUD", "busy", ""),
        ("IDLE+DRAIN", "drained", "drained"),
        ("ALLOCATED+DRAIN", "drained", "draining"),
        ("DOWN+NOT_RESPONDING", "down", "down"),
        ("DOWN+DRAIN", "down", "down"),
        ("IDLE+NOT_RESPONDING", "down", ""),  # it has until SlurmdTimeout
        ("IDLE+CLOUD+POWERED_DOWN", "off", ""),
        ("DOWN+CLOUD+POWERED_DOWN", "off", ""),
    ],
)
def test_a_node_that_slurm_stopped_is_not_out_of_service(state: str, kind: str, out: str) -> None:
    states = set(state.split("+"))
    assert (nodes.kind_of(states), nodes.out_of_service(states)) == (kind, out)


def test_nodes_are_counted_by_node_set_and_told_one_by_one_up_to_a_limit() -> None:
    counted = nodes.Nodes()
    for number in range(nodes.SHOWN + 5):
        counted.add(compared.fields_of(NODE.format(number, "DOWN", "Not responding [slurm@2026-01-01T00:00:00]")))
    found = list(counted.samples())
    assert ("slipway_nodes", {"nodeset": "worker", "state": "down"}, nodes.SHOWN + 5) in found
    each = [labels for name, labels, _ in found if name == "slipway_node_out_of_service"]
    assert len(each) == nodes.SHOWN
    assert each[0]["reason"] == "Not responding"
    assert each[0]["by"] == "slurm"


def test_what_counts_as_drift_is_what_slipway_drift_shows() -> None:
    assert compared.NODE_FIELDS == verify.NODE_FIELDS
    assert compared.NOT_OF_A_PARTITION == verify.NOT_OF_A_PARTITION
    ignored = [*rehearse.OWN, "AccountingStorageHost", "SuspendTime", "PriorityWeightAge", "SlurmctldSyslogDebug"]
    ignored += ["BOOT_TIME", "HASH_VAL", "SLURM_CONF", "SLURM_VERSION", "NEXT_JOB_ID", "SlurmctldHost[0]"]
    counted = ["KillWait", "SchedulerParameters", "PriorityWeightPartition", "SlurmctldParameters", "SuspendRate"]
    for key in [*ignored, *counted]:
        theirs = bool(drift._OWN.fullmatch(key) or rehearse.altered(key))  # pyright: ignore[reportPrivateUsage]
        assert bool(compared.NOT_OF_THE_FILES.fullmatch(key)) == theirs == (key in ignored), key


def read(text: str) -> Any:
    found = compared.Shown()
    what = ""
    for line in text.splitlines():
        if line.startswith("=== "):
            what = line[4:]
        else:
            found.add(what, line)
    return found


@pytest.mark.parametrize(
    ("now", "objects"),
    [
        (shown(port=16817), 0),
        (shown(killwait=60), 1),
        (shown(maxtime="2:00:00"), 1),
        (shown(killwait=60, maxtime="2:00:00"), 2),
        (shown().replace("Gres=gpu:2(S:0-1)", "Gres=gpu:2"), 0),
        (shown().replace("NodeName=worker-1", "NodeName=worker-2"), 2),
        (shown().replace("KillWait", "NewKey = of no file\nKillWait"), 0),
        (shown().replace(" State=UP", " State=UP NodeSets=all"), 0),
        (shown().replace("=== nodes", PARTITION.format("own", "1:00:00") + "\n=== nodes"), 1),
    ],
)
def test_live_changes_are_counted_as_slipway_drift_lists_them(now: str, objects: int) -> None:
    assert len(read(shown()).differences(read(now))) == objects
    listed = {
        (each.object, each.key if each.object == "slurm.conf" else "")
        for each in drift.differences(Shown.parse(shown()), Shown.parse(now))
    }
    assert len(listed) == objects


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, folder in (("CONFIG", "etc"), ("APPLIED", "applied"), ("REHEARSED", "rehearsal")):
        (tmp_path / folder).mkdir()
        monkeypatch.setattr(compared, name, tmp_path / folder)
    return tmp_path


FILES = {"slurm.conf": "ClusterName=a\n", "cgroup.conf": "# none\n"}


def deployed(folder: Path, applied: dict[str, str] | None = None, rehearsed: str = "") -> None:
    for name, text in FILES.items():
        (folder / "etc" / name).write_text(text)
    (folder / "applied" / "applied").write_text(json.dumps(applied or FILES))
    (folder / "applied" / "since").write_text("0.0")
    if rehearsed:
        (folder / "rehearsal" / "digest").write_text(digest(applied or FILES) + "\n")
        (folder / "rehearsal" / "shown").write_text(rehearsed)


def drifted(now: str, asked: Any = None) -> dict[str, float]:
    return {labels["kind"]: value for _, labels, value in (asked or exporter.Exporter(False)).drift(read(now))}


def test_drift_is_against_the_rehearsal_of_what_was_applied(mounted: Path) -> None:
    deployed(mounted, rehearsed=shown(port=16817))
    assert drifted(shown()) == {"files": 0, "not_read": 0, "live": 0}
    assert drifted(shown(killwait=5, match="Different Ours=1 Slurmctld=2")) == {"files": 0, "not_read": 1, "live": 1}


def test_edited_files_are_drift(mounted: Path) -> None:
    deployed(mounted, applied={**FILES, "slurm.conf": "ClusterName=b\n", "gres.conf": "x"}, rehearsed=shown())
    assert drifted(shown())["files"] == 2


def test_without_a_rehearsal_a_slurmctld_that_has_just_started_shows_what_its_files_mean(mounted: Path) -> None:
    deployed(mounted)
    now = time.strftime("%Y-%m-%dT%H:%M:%S")
    first = exporter.Exporter(False)
    assert drifted(shown(boot=now), first)["live"] == 0
    assert drifted(shown(boot=now, killwait=9), first)["live"] == 1
    later = exporter.Exporter(False)
    assert "live" not in drifted(shown(boot="2026-01-01T00:00:00"), later), "what is not known is not told"
    deployed(mounted, rehearsed=shown(boot=now))
    assert drifted(shown(boot="2026-01-01T00:00:00"), later)["live"] == 0


def test_while_an_update_is_under_way_nothing_is_drift(mounted: Path) -> None:
    deployed(mounted, applied={"slurm.conf": "old"})
    (mounted / "applied" / "attempts").write_text("[]")
    (mounted / "applied" / "since").write_text(str(time.time() - 60))
    [(name, _, seconds)] = exporter.Exporter(False).drift(read(shown()))
    assert name == "slipway_config_update_seconds"
    assert seconds == pytest.approx(60, abs=30)


def test_before_the_first_deploy_has_ended_nothing_is_drift(mounted: Path) -> None:
    assert list(exporter.Exporter(False).drift(read(shown()))) == []


def test_a_storage_that_hangs_does_not_hang_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    back = threading.Event()
    monkeypatch.setattr(exporter, "READY_SECONDS", 0.05)
    monkeypatch.setattr(exporter.os, "statvfs", lambda path: back.wait(10))
    asked = exporter.Exporter(False)
    for _ in range(3):
        with pytest.raises(asking.Unanswered, match="does not answer"):
            list(asked.jail())
    assert sum(each.name.startswith("Thread-") and each.is_alive() for each in threading.enumerate()) <= 2
    back.set()


class Slurmctld:
    """Answers as slurmctld does over HTTP, with the line that it adds behind each body."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                path = connection.recv(4096).split()[1].decode()
                body = b"" if path == "/readyz" else f"# TYPE a gauge\nslurm{path.replace('/', '_')} 1\n".encode()
                head = f"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body.replace(b"-", b"_") + b"Connection: Close\r\n")


def test_the_page_holds_all_of_slurmctlds_and_says_what_could_not_be_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slurmctld = Slurmctld()
    monkeypatch.setattr(asking, "SLURMCTLD", slurmctld.listener.getsockname())
    monkeypatch.setattr(exporter, "JAIL", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))  # there is no scontrol to ask
    lines = b"".join(page.page(exporter.Exporter(True))).decode().splitlines()
    slurmctld.listener.close()
    assert "slurm_metrics_jobs 1" in lines
    assert "slurm_metrics_jobs_users_accts 1" in lines
    assert not [line for line in lines if "Close" in line]
    assert "slipway_slurmctld_up 1" in lines
    assert 'slipway_collector_success{collector="jail"} 1' in lines
    assert 'slipway_collector_success{collector="nodes"} 0' in lines
    assert not [line for line in lines if line.startswith("slipway_nodes")]


def test_it_answers_without_a_slurmctld_and_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for file in SCRIPT.glob("*.py"):
        text = file.read_text().replace('("127.0.0.1", 6817)', '("127.0.0.1", 1)').replace("/mnt/jail", str(tmp_path))
        (tmp_path / file.name).write_text(text)
    process = subprocess.Popen([sys.executable, "-IS", tmp_path, str(port)])
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    page = answer.read().decode()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert "slipway_slurmctld_up 0\n" in page
        assert "slipway_jail_size_bytes" in page
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=5)
    finally:
        process.terminate()
    assert process.wait(10) == 0


def test_labels_cannot_break_out_of_their_line() -> None:
    assert page.escaped('a"b\\c\nd') == 'a\\"b\\\\c\\nd'
