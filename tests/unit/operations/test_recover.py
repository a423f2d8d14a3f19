"""What a killed `pulumi` leaves: its lock goes, and a living one's never."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from operations import recover
from operations.problem import Problem


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path}")
    folder = tmp_path / ".pulumi" / "locks" / "organization" / "slipway" / "dev"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def pulumi(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Calls of pulumi, whose state has one creation without an end."""
    calls: list[list[str]] = []

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(argv[1:])
        state = {"deployment": {"pending_operations": [{"type": "creating"}, {"type": "updating"}]}}
        return subprocess.CompletedProcess(argv, 0, json.dumps(state), "")

    monkeypatch.setattr(recover.subprocess, "run", run)
    return calls


def lock(folder: Path, pid: int, host: str | None = None) -> Path:
    file = folder / f"{pid}.json"
    file.write_text(json.dumps({"pid": pid, "hostname": host or socket.gethostname(), "username": "root"}))
    return file


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
        return process.pid


def test_without_a_lock_and_an_open_creation_nothing_is_done(locks: Path, pulumi: list[list[str]], monkeypatch) -> None:
    monkeypatch.setattr(recover, "_pending", lambda _: [])
    assert recover.recover("dev") is False
    assert pulumi == []


def test_a_recovery_that_failed_itself_is_taken_up_by_the_next(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock went with the first one, and what is pending stayed."""
    stale, codes, calls = lock(locks, dead_pid()), iter([1, 0]), []
    monkeypatch.setattr(recover, "_pending", lambda _: [{"type": "creating"}])

    def run(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(argv[1])
        return subprocess.CompletedProcess(argv, next(codes), "", "no such cluster")

    monkeypatch.setattr(recover.subprocess, "run", run)
    with pytest.raises(Problem):
        recover.recover("dev")
    assert not stale.exists()
    assert recover.recover("dev") is True
    assert calls == ["refresh", "refresh"]


def test_a_dead_ones_lock_goes_and_what_it_was_making_is_looked_for(locks: Path, pulumi: list[list[str]]) -> None:
    stale = lock(locks, dead_pid())
    assert recover.recover("dev") is True
    assert not stale.exists()
    assert [call[:2] for call in pulumi] == [["stack", "export"], ["refresh", "--yes"]]
    assert "--clear-pending-creates" in pulumi[-1]


def test_a_note_that_was_half_written_does_not_keep_the_state_from_being_read(
    locks: Path, pulumi: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path}?no_tmp_dir=true")
    stacks = tmp_path / ".pulumi" / "stacks" / "slipway"
    stacks.mkdir(parents=True)
    half, whole, other = (stacks / f"{name}.attrs" for name in ("dev.json", "dev.json.bak", "other.json"))
    half.write_text('{"user.content')
    whole.write_text('{"md5": "TSQ6mHwfaLS/usOXl9dicg=="}')
    other.write_text("")
    living = lock(locks, os.getpid())
    recover.recover("dev")
    assert half.exists(), "somebody may be writing it just now"
    living.unlink()
    recover.recover("dev")
    assert not half.exists()
    assert whole.exists()
    assert other.exists()


def test_a_stack_that_is_yet_to_be_made_has_nothing_to_recover(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    none = subprocess.CompletedProcess(["pulumi"], 255, "", "error: no stack named 'dev' found")
    monkeypatch.setattr(recover.subprocess, "run", lambda *_, **__: none)
    assert recover.recover("dev") is False


def test_interrupted_updates_need_no_refresh(locks: Path, pulumi: list[list[str]], monkeypatch) -> None:
    monkeypatch.setattr(recover, "_pending", lambda _: [{"type": "updating"}])
    lock(locks, dead_pid())
    assert recover.recover("dev") is False
    assert pulumi == []


@pytest.mark.parametrize("host", [None, "another-machine"])
def test_a_living_ones_lock_and_one_of_another_machine_stay(locks: Path, pulumi, host: str | None) -> None:
    held = lock(locks, os.getpid() if host is None else dead_pid(), host)
    other = lock(locks.parent / "dev", dead_pid()) if host is None else None
    assert recover.recover("dev") is False
    assert held.exists()
    assert other is None or not other.exists()


@pytest.mark.parametrize("variable", ["PULUMI_HOME", "PULUMI_CREDENTIALS_PATH", "HOME"])
def test_the_backend_is_also_the_one_of_the_last_login(
    locks: Path, pulumi, tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("PULUMI_BACKEND_URL", "PULUMI_HOME", "PULUMI_CREDENTIALS_PATH"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "home"))
    home = tmp_path / "home" / (".pulumi" if variable == "HOME" else "")
    home.mkdir(parents=True)
    (home / "credentials.json").write_text(json.dumps({"current": f"file://{tmp_path}"}))
    stale = lock(locks, dead_pid())
    recover.recover("dev")
    assert not stale.exists()


def test_locks_of_other_stacks_are_left_alone(locks: Path, pulumi: list[list[str]], monkeypatch) -> None:
    monkeypatch.setattr(recover, "_pending", lambda _: [])
    folder = locks.parent / "prod"
    folder.mkdir()
    stale = lock(folder, dead_pid())
    assert recover.recover("dev") is False
    assert stale.exists()


def test_a_backend_that_is_no_folder_has_no_such_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "https://example.com")
    assert recover._locks("dev") == []


def test_a_refresh_that_fails_is_said_in_its_own_words(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock(locks, dead_pid())
    monkeypatch.setattr(recover, "_pending", lambda _: [{"type": "creating"}])
    failed = subprocess.CompletedProcess(["pulumi"], 1, "", "no such cluster")
    monkeypatch.setattr(recover.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(Problem, match="no such cluster"):
        recover.recover("dev")


@pytest.mark.parametrize("words", [["--yes", "--skip-preview"], []])
def test_after_a_killed_creation_the_first_run_takes_over_what_is_there_and_asks_as_told(
    locks: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    runs: list[tuple[list[str], str]] = []

    def run(argv: list[str], env: dict[str, str] | None = None, **_: object) -> subprocess.CompletedProcess[str]:
        runs.append((argv, (env or {}).get("PULUMI_K8S_UPSERT_EXISTING_OBJECTS", "")))
        return subprocess.CompletedProcess(argv, 0)

    monkeypatch.setattr(recover.subprocess, "run", run)
    monkeypatch.setattr(recover, "recover", lambda _: True)
    assert recover.up("dev", words) == 0
    assert [taken for _, taken in runs] == ["true", ""]
    assert all(argv[:4] == ["pulumi", "up", "--stack", "dev"] for argv, _ in runs)
    assert all(argv[-len(words) :] == words or not words for argv, _ in runs)
    assert all("--policy-pack" in argv for argv, _ in runs), "nothing is made without the rules"


def test_what_is_recovered_is_told_beside_what_programs_read(
    locks: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lock(locks, dead_pid())
    program = tmp_path / "pulumi"
    pending = json.dumps({"deployment": {"pending_operations": [{"type": "creating"}]}})
    program.write_text(f"#!/bin/sh\ncase $1 in stack) echo '{pending}' ;; up) echo '{{\"up\": true}}' ;; esac\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert recover.up("dev", ["--yes", "--json"]) == 0
    told = capfd.readouterr()
    assert json.loads(told.out) == {"up": True}
    assert "releasing its lock" in told.err


def test_a_user_who_says_no_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = iter([255])
    monkeypatch.setattr(
        recover.subprocess, "run", lambda argv, **_: subprocess.CompletedProcess(argv, next(codes), "", "")
    )
    monkeypatch.setattr(recover, "recover", lambda _: True)
    assert recover.up("dev", []) == 255


def test_a_plugin_whose_engine_is_gone_is_an_orphan_and_no_other_process_is(tmp_path: Path) -> None:
    with socket.socket() as engine:
        engine.bind(("127.0.0.1", 0))
        engine.listen()
        alive = engine.getsockname()[1]
        with socket.socket() as gone:
            gone.bind(("127.0.0.1", 0))
            dead = gone.getsockname()[1]
        for words, expected in {
            ("/x/pulumi-resource-kubernetes", f"127.0.0.1:{dead}"): True,
            ("python", "-m", "lab.plugins.command", f"127.0.0.1:{dead}"): True,
            ("/x/pulumi-resource-kubernetes", f"127.0.0.1:{alive}"): False,
            ("nginx", f"127.0.0.1:{dead}"): False,
            ("pulumi-resource-kubernetes",): False,
        }.items():
            process = tmp_path / "1"
            process.mkdir(exist_ok=True)
            (process / "cmdline").write_text("\0".join(words) + "\0")
            assert recover._orphaned(process) is expected, words
