"""What the page says beside slurmctld's own, found out when it is asked for."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

import shown
from asking import READY_SECONDS, Unanswered, run
from nodes import SHOWN, Nodes, Sample
from shown import Shown, digest, read_folder, read_rehearsal

JAIL = "/mnt/jail"
FRESH_SECONDS = 120.0

FAMILIES = {
    "slipway_slurmctld_up": "Whether slurmctld says that it is ready.",
    "slipway_nodes": "Nodes by NodeSet, and what becomes of them.",
    "slipway_nodes_out_of_service": "Nodes that are drained or down, by NodeSet and by whose reason that is.",
    "slipway_node_out_of_service": f"The same, node by node, at most {SHOWN} of them.",
    "slipway_jail_size_bytes": "Size of the file system that the shared root is on.",
    "slipway_jail_available_bytes": "What users can still write to it.",
    "slipway_jail_files": "Files that it can hold, where it counts them.",
    "slipway_jail_available_files": "Files that users can still make on it.",
    "slipway_slurmdbd_up": "Whether slurmdbd answers.",
    "slipway_config_drift": "How much runs otherwise than it was declared: files, keys, nodes and partitions.",
    "slipway_config_update_seconds": "For how long an update is under way, or was left unfinished.",
    "slipway_collector_success": "Whether this part of the page could be found out.",
}


class Exporter:
    def __init__(self, accounting: bool) -> None:
        self._accounting = accounting
        self._declared: tuple[object, Shown] | None = None
        self._drifted: list[str] = []
        self._jail: list[os.statvfs_result] = []
        self._asking: threading.Thread | None = None

    def samples(self, up: bool) -> Iterator[Sample]:
        yield "slipway_slurmctld_up", {}, up
        collectors: dict[str, Callable[[], Iterator[Sample]]] = {"jail": self.jail}
        if up:
            collectors["nodes"] = self.nodes
        if self._accounting:
            collectors["accounting"] = self.accounting
        for name, collect in collectors.items():
            found: list[Sample] = []
            try:
                found += collect()
            except (OSError, ValueError, KeyError, Unanswered) as problem:
                sys.stderr.write(f"metrics: {name}: {problem or type(problem).__name__}\n")
                yield "slipway_collector_success", {"collector": name}, 0
            else:
                yield from found
                yield "slipway_collector_success", {"collector": name}, 1

    def jail(self) -> Iterator[Sample]:
        disk = self._statvfs()
        yield "slipway_jail_size_bytes", {}, disk.f_blocks * disk.f_frsize
        yield "slipway_jail_available_bytes", {}, disk.f_bavail * disk.f_frsize
        if disk.f_files:  # some file systems have no limit, and say none
            yield "slipway_jail_files", {}, disk.f_files
            yield "slipway_jail_available_files", {}, disk.f_favail

    def _statvfs(self) -> os.statvfs_result:
        """Asked by somebody else: a storage that hangs holds whoever asks it, and cannot be given up."""
        if not self._asking or not self._asking.is_alive():
            self._jail.clear()
            self._asking = threading.Thread(target=lambda: self._jail.append(os.statvfs(JAIL)), daemon=True)
            self._asking.start()
        self._asking.join(READY_SECONDS)
        if not self._jail:
            raise Unanswered(f"the file system at {JAIL} does not answer")
        return self._jail[0]

    def accounting(self) -> Iterator[Sample]:
        try:
            up = any("is UP" in line for line in run("sacctmgr", "ping"))
        except Unanswered:
            up = False
        yield "slipway_slurmdbd_up", {}, up

    def nodes(self) -> Iterator[Sample]:
        """Nodes, and drift: both from one look at what slurmctld shows."""
        running, nodes = Shown(), Nodes()
        for what in ("config", "partitions", "nodes"):
            for line in run("scontrol", "show", what, "--oneliner"):
                fields = running.add(what, line)
                if "NodeName" in fields:
                    nodes.add(fields)
        yield from nodes.samples()
        yield from self.drift(running)

    def drift(self, running: Shown) -> Iterator[Sample]:
        """Nothing, while an update is under way or nothing was deployed yet: only its end tells what shall be."""
        record = read_folder(shown.APPLIED)
        if "attempts" in record:
            yield "slipway_config_update_seconds", {}, max(0.0, time.time() - float(record.get("since", "0")))
            return
        if "applied" not in record:
            return
        applied: dict[str, str] = json.loads(record["applied"])
        mounted = read_folder(shown.CONFIG)
        edited = sum(applied.get(name) != mounted.get(name) for name in {*applied, *mounted})
        yield "slipway_config_drift", {"kind": "files"}, edited
        # scontrol compares what it reads with what slurmctld has read.
        yield "slipway_config_drift", {"kind": "not_read"}, running.config.get("HASH_VAL") != "Match"
        if declared := self.declared(digest(applied), running):
            found = declared.differences(running)
            yield "slipway_config_drift", {"kind": "live"}, len(found)
            if found != self._drifted:
                shown_first = ", ".join(found[:10]) or "none any more"
                sys.stderr.write(f"metrics: {len(found)} live changes: {shown_first}\n")
            self._drifted = found

    def declared(self, wanted: str, running: Shown) -> Shown | None:
        """What the files mean: what a rehearsal of them has shown; else what slurmctld has shown itself when it had
        just read them, as nobody can have changed anything by then. None where neither is known."""
        boot = running.config.get("BOOT_TIME", "")
        if self._declared and self._declared[0] in (wanted, (wanted, boot)):
            return self._declared[1]
        if rehearsed := read_rehearsal(wanted):
            self._declared = (wanted, rehearsed)
        elif time.time() - time.mktime(time.strptime(boot, "%Y-%m-%dT%H:%M:%S")) < FRESH_SECONDS:
            self._declared = ((wanted, boot), running)
        else:
            return None
        return self._declared[1]
