"""What a killed `pulumi` leaves behind: a lock that nobody holds, plugins without an engine, operations without an end.

Only what is certainly dead is touched: the lock of a process that lives, or of another machine, stays, and pulumi says
who has it."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from operations import pack
from operations.problem import Problem

HOUSE = Path(__file__).parents[1]
UPSERT = {"PULUMI_K8S_UPSERT_EXISTING_OBJECTS": "true", "PULUMI_K8S_ENABLE_PATCH_FORCE": "true"}
END_SECONDS = 10
_PLUGIN = re.compile(r"pulumi-(resource|language|analyzer)-[a-z0-9-]+$|lab\.plugins\.\w+$")
_ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)$")


def up(stack: str, words: list[str]) -> int:
    """`pulumi up` with the policy pack, after mending what an earlier one has left. Its exit code. Nothing is confirmed
    for the user: both runs show what they do and ask, unless the words say otherwise."""
    argv = ["pulumi", "up", "--stack", stack, *pack.words(stack, words), *words]
    if recover(stack):
        # What the killed run was creating may be there without being in the state: take it over instead of failing. The
        # state remembers that the provider was told so, until it is told otherwise: by the second run.
        say("taking over what is there; a second run follows, which lets the provider forget about it")
        output = sys.stderr if "--json" in words else None  # one document on stdout, and that is the second run's
        first = subprocess.run(argv, env={**os.environ, **UPSERT}, stdout=output).returncode
        if first:
            return first
    return subprocess.run(argv).returncode


def recover(stack: str) -> bool:
    """Release stale locks and settle pending operations. True if there was a creation whose end nobody knows. One that
    was interrupted itself has released the lock already: what is pending tells by itself that there is work left."""
    stale = [lock for lock in _locks(stack) if _stale(lock)]
    if stale:
        say("an earlier `pulumi` was killed: releasing its lock")
        _end_orphans()
        for lock in stale:
            lock.unlink(missing_ok=True)
    if any(_stale(lock) is False for lock in _locks(stack)):
        return False  # somebody is at work: pulumi says who
    _remove_halves(stack)
    if not any(each.get("type") == "creating" for each in _pending(stack)):
        return False
    say("reading the cluster again, as an earlier `pulumi` was killed while it was making something")
    argv = ["pulumi", "refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", stack]
    done = subprocess.run(argv, cwd=HOUSE, capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"`pulumi refresh` failed:\n{done.stdout}{done.stderr}")
    return True


def say(text: str) -> None:
    """Beside what pulumi prints, which programs may read."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _locks(stack: str) -> list[Path]:
    """Only a backend of files has such locks; a service releases its own."""
    return [lock for lock in _files("locks", "*.json") if lock.parent.name == stack.rpartition("/")[2]]


def _remove_halves(stack: str) -> None:
    """Pulumi replaces a state at once, but writes what it notes beside it (its type and checksum) bit by bit. Without a
    whole note it does not read the state ("EOF"); without any it does."""
    for note in _files("stacks", f"{stack.rpartition('/')[2]}.json*.attrs"):
        try:
            json.loads(note.read_text())
        except FileNotFoundError:
            continue
        except ValueError:
            say(f"an earlier `pulumi` was killed while it wrote {note.name}: removing it")
            note.unlink(missing_ok=True)


def _files(folder: str, pattern: str) -> list[Path]:
    """Of a backend of files; another has none."""
    url = _backend()
    if not url.startswith("file://"):
        return []
    path = Path(url.removeprefix("file://").partition("?")[0])
    return list((HOUSE / path.expanduser() / ".pulumi" / folder).rglob(pattern))


def _backend() -> str:
    """Where pulumi keeps its state, found as it does: the environment, the project, or the last `pulumi login`."""
    if url := os.environ.get("PULUMI_BACKEND_URL"):
        return url
    project = yaml.safe_load((HOUSE / "Pulumi.yaml").read_text())
    if url := (project.get("backend") or {}).get("url"):
        return url
    home = os.environ.get("PULUMI_CREDENTIALS_PATH") or os.environ.get("PULUMI_HOME") or "~/.pulumi"
    try:
        return json.loads((Path(home).expanduser() / "credentials.json").read_text()).get("current") or ""
    except (FileNotFoundError, ValueError):
        return ""


def _stale(lock: Path) -> bool:
    try:
        holder = json.loads(lock.read_text())
    except (FileNotFoundError, ValueError):
        return False
    return holder.get("hostname") == socket.gethostname() and not Path(f"/proc/{holder.get('pid')}").exists()


def _pending(stack: str) -> list[dict[str, Any]]:
    done = subprocess.run(["pulumi", "stack", "export", "--stack", stack], cwd=HOUSE, capture_output=True, text=True)
    if done.returncode and "no stack named" in done.stderr:
        return []  # `pulumi up` makes it
    if done.returncode:
        raise Problem(f"`pulumi stack export` failed: {done.stderr.strip()}")
    return json.loads(done.stdout).get("deployment", {}).get("pending_operations") or []


def _end_orphans() -> None:
    """End plugins whose engine is gone, each by its number: they, and what they run, could race the next update."""
    orphans = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit() and _orphaned(each)]
    for number in (signal.SIGINT, signal.SIGKILL):
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        deadline = time.monotonic() + END_SECONDS
        while any(Path(f"/proc/{pid}").exists() for pid in orphans) and time.monotonic() < deadline:
            time.sleep(0.1)


def _orphaned(process: Path) -> bool:
    """A plugin of ours whose engine's address nobody answers at any more."""
    try:
        if process.stat().st_uid != os.getuid():
            return False
        words = (process / "cmdline").read_text().split("\0")
    except OSError:
        return False
    address = next((found for word in words if (found := _ADDRESS.search(word))), None)
    if not address or not any(_PLUGIN.search(word) for word in words):
        return False
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", int(address[1]))) != 0
