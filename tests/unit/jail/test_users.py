"""`images/jail/users`: users, groups, homes and keys of the shared root become what is declared. Nothing is lost."""

import importlib.machinery
import importlib.util
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.unit.jail import lock

SCRIPT = Path(__file__).parents[3] / "images" / "jail" / "users"
ROOT = os.geteuid() == 0
PYTHON = [sys.executable, "-IS"] if ROOT else [sys.executable]
FILES = ("passwd", "group", "shadow", "gshadow")

IMAGE = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n",
    "group": "root:x:0:\nshadow:x:42:\n",
    "shadow": "root:*:20000:0:99999:7:::\ndaemon:*:20000:0:99999:7:::\n",
    "gshadow": "root:*::\nshadow:*::\n",
}
KEY = "ssh-ed25519 AAAA alice@laptop"


def user(name: str, uid: int, *keys: str, groups: tuple[str, ...] = (), gid: int | None = None) -> dict[str, Any]:
    gid = uid if gid is None else gid
    return {"name": name, "uid": uid, "gid": gid, "groups": list(groups), "shell": "/bin/bash", "keys": list(keys)}


def group(name: str, gid: int) -> dict[str, Any]:
    return {"name": name, "gid": gid}


ALICE = user("alice", 10001, KEY, groups=("physics",))
BOB = user("bob", 10002)
GROUPS = [group("alice", 10001), group("bob", 10002), group("physics", 20001)]
BOTH = {"users": [ALICE, BOB], "groups": GROUPS}
ONLY_BOB = {"users": [BOB], "groups": [group("bob", 10002)]}


class Jail:
    """A shared root that was just filled, and the image that it was filled from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root, self.image = folder / "jail", folder / "image"
        for place in (self.root, self.image):
            (place / "etc").mkdir(parents=True)
            for name, text in IMAGE.items():
                (place / "etc" / name).write_text(text)
        (self.root / ".slipway").mkdir()
        (self.root / "etc" / "skel" / ".config").mkdir(parents=True)
        (self.root / "etc" / "skel" / ".bashrc").write_text("# skel\n")
        (self.root / "etc" / "skel" / "link").symlink_to(".bashrc")

    @property
    def environment(self) -> dict[str, str]:
        environment = {**os.environ, "JAIL": str(self.root), "IMAGE_ROOT": str(self.image)}
        if not ROOT:
            # Nobody but root can give files away: let it be, and do not look at owners.
            (self.folder / "sitecustomize.py").write_text("import os\nos.chown = lambda *_, **__: None\n")
            environment["PYTHONPATH"] = str(self.folder)
        return environment

    def apply(self, wanted: dict[str, Any]) -> str:
        table = self.folder / "users.json"
        table.write_text(json.dumps(wanted))
        run = subprocess.run([*PYTHON, SCRIPT, table], env=self.environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def read(self, name: str) -> str:
        return (self.root / "etc" / name).read_text()

    def entries(self, name: str) -> dict[str, list[str]]:
        lines = [line.split(":") for line in self.read(name).splitlines()]
        assert len({line[0] for line in lines}) == len(lines), f"{name} has a name twice"
        return {line[0]: line for line in lines}

    def keys(self) -> dict[str, str]:
        folder = self.root / "etc" / "slipway" / "authorized_keys"
        return {file.name: file.read_text() for file in folder.iterdir()}

    def home(self, name: str) -> Path:
        return self.root / "home" / name

    def content(self) -> dict[str, tuple[Any, ...]]:
        """Everything in the shared root: what a second look must find unchanged."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            seen = path.lstat()
            text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path.relative_to(self.root))] = (seen.st_mode, seen.st_uid, seen.st_gid, text)
        return found


@pytest.fixture
def jail(tmp_path: Path) -> Jail:
    return Jail(tmp_path)


def test_declared_users_can_be_looked_up(jail: Jail) -> None:
    jail.apply(BOTH)
    assert jail.entries("passwd")["alice"] == ["alice", "x", "10001", "10001", "", "/home/alice", "/bin/bash"]
    assert jail.entries("group")["alice"] == ["alice", "x", "10001", ""]
    assert jail.entries("group")["physics"] == ["physics", "x", "20001", "alice"]
    assert jail.entries("gshadow")["physics"][3] == "alice"
    assert len(jail.entries("passwd")["alice"]) == 7
    assert len(jail.entries("shadow")["alice"]) == 9
    assert len(jail.entries("gshadow")["alice"]) == 4


def test_they_have_no_password_and_are_not_locked_out_by_that(jail: Jail) -> None:
    """sshd refuses a user whose password starts with `!`, whatever key is shown."""
    jail.apply(BOTH)
    assert jail.entries("shadow")["alice"][1] == "*"
    assert jail.entries("shadow")["bob"][1] == "*"


def test_they_have_their_keys_and_nobody_elses(jail: Jail) -> None:
    other = "ssh-ed25519 BBBB other"
    jail.apply({"users": [user("alice", 10001, KEY, other), BOB], "groups": GROUPS})
    assert jail.keys() == {"alice": f"{KEY}\n{other}\n", "bob": ""}


def test_they_have_a_home_of_their_own_from_skel(jail: Jail) -> None:
    jail.apply({"users": [user("alice", 10001, KEY, gid=20001)], "groups": [group("physics", 20001)]})
    home = jail.home("alice")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (home / ".bashrc").read_text() == "# skel\n"
    assert (home / ".config").is_dir()
    assert (home / "link").is_symlink()
    if ROOT:
        owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in (home, *home.rglob("*"))}
        assert owners == {(10001, 20001)}


def test_passwords_are_readable_for_root_and_the_group_shadow_only(jail: Jail) -> None:
    jail.apply(BOTH)
    modes = {name: stat.S_IMODE((jail.root / "etc" / name).stat().st_mode) for name in FILES}
    assert modes == {"passwd": 0o644, "group": 0o644, "shadow": 0o640, "gshadow": 0o640}


def test_a_second_run_changes_nothing(jail: Jail) -> None:
    jail.apply(BOTH)
    before = jail.content()
    jail.apply(BOTH)
    assert jail.content() == before


def test_the_table_can_come_from_stdin(jail: Jail) -> None:
    argv = [*PYTHON, str(SCRIPT)]
    run = subprocess.run(argv, env=jail.environment, input=json.dumps(BOTH), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "alice" in jail.entries("passwd")


def test_users_and_groups_that_an_administrator_has_added_stay(jail: Jail) -> None:
    mine = {
        "passwd": "carol:x:5000:5000::/home/carol:/bin/zsh\n",
        "group": "carol:x:5000:\nlab:x:5001:carol\n",
        "shadow": "carol:$y$hash:20000:0:99999:7:::\n",
        "gshadow": "carol:!::\nlab:!::carol\n",
    }
    for name, text in mine.items():
        with (jail.root / "etc" / name).open("a") as file:
            file.write(text)
    for wanted in (BOTH, ONLY_BOB, {"users": [], "groups": []}):
        jail.apply(wanted)
        for name, text in mine.items():
            assert text in jail.read(name), name


def test_a_user_that_is_no_longer_declared_is_gone_but_for_the_home(jail: Jail) -> None:
    jail.apply(BOTH)
    thesis = jail.home("alice") / "thesis.tex"
    thesis.write_text("years of work")
    said = jail.apply(ONLY_BOB)
    for name in FILES:
        assert "alice" not in jail.read(name), name
        assert "physics" not in jail.read(name), name
    assert set(jail.keys()) == {"bob"}
    assert thesis.read_text() == "years of work"
    assert "alice: may no longer log in; /home/alice stays" in said
    assert "bob" in jail.entries("passwd")


def test_a_user_who_leaves_a_group_is_no_member_any_more(jail: Jail) -> None:
    jail.apply(BOTH)
    jail.apply({"users": [user("alice", 10001, KEY), BOB], "groups": GROUPS})
    assert jail.entries("group")["physics"] == ["physics", "x", "20001", ""]
    assert jail.entries("gshadow")["physics"][3] == ""


@pytest.mark.parametrize(("mode", "wanted"), [(0o750, 0o755), (0o1777, 0o755), (0o711, 0o711)])
def test_they_get_through_to_their_homes_on_a_volume_of_any_mode(jail: Jail, mode: int, wanted: int) -> None:
    homes = jail.root / "home"
    homes.mkdir(exist_ok=True)
    homes.chmod(mode)
    jail.apply(BOTH)
    assert stat.S_IMODE(homes.stat().st_mode) == wanted


def test_a_user_who_comes_back_finds_everything_as_it_was(jail: Jail) -> None:
    jail.apply(BOTH)
    (jail.home("alice") / "thesis.tex").write_text("years of work")
    jail.home("alice").chmod(0o750)
    before = jail.content()
    jail.apply(ONLY_BOB)
    jail.apply(BOTH)
    after = jail.content()
    for name in FILES:  # in another order, which nobody reads
        del before[f"etc/{name}"], after[f"etc/{name}"]
    assert after == before
    assert jail.entries("passwd")["alice"][2] == "10001"


def test_a_home_that_exists_is_left_alone(jail: Jail) -> None:
    jail.home("alice").mkdir(parents=True, mode=0o755)
    (jail.home("alice") / "mine").write_text("x")
    jail.apply(BOTH)
    assert {path.name for path in jail.home("alice").iterdir()} == {"mine"}
    assert stat.S_IMODE(jail.home("alice").stat().st_mode) == 0o755


def test_changed_keys_and_shells_take_the_place_of_the_old_ones(jail: Jail) -> None:
    jail.apply(BOTH)
    jail.apply({"users": [{**ALICE, "keys": ["ssh-ed25519 NEW"], "shell": "/bin/zsh"}, BOB], "groups": GROUPS})
    assert jail.keys()["alice"] == "ssh-ed25519 NEW\n"
    assert jail.entries("passwd")["alice"][6] == "/bin/zsh"


def test_system_users_that_the_shared_root_lacks_come_from_the_image(jail: Jail) -> None:
    """A newer image may bring daemons that an older root does not know."""
    with (jail.image / "etc" / "passwd").open("a") as file:
        file.write("munge:x:64029:64029::/nonexistent:/usr/sbin/nologin\n")
    (jail.root / "etc" / "passwd").write_text("root:x:0:0:changed by hand:/root:/bin/bash\n")
    (jail.root / "etc" / "gshadow").unlink()
    jail.apply(BOTH)
    assert set(jail.entries("passwd")) == {"root", "daemon", "munge", "alice", "bob"}
    assert jail.entries("passwd")["root"][4] == "changed by hand"
    assert set(jail.entries("gshadow")) == {"root", "shadow", "alice", "bob", "physics"}


def test_a_run_that_was_killed_at_any_file_is_mended_by_the_next_one(jail: Jail, tmp_path: Path) -> None:
    """Whatever was replaced already, and whatever was left half-made beside it."""
    jail.apply(BOTH)
    whole = jail.content()
    for done in range(len(FILES) + 1):
        folder = tmp_path / f"after{done}"
        folder.mkdir()
        cut = Jail(folder)
        # The record comes first, then one file after the other.
        (cut.root / ".slipway" / "users.json").write_text((jail.root / ".slipway" / "users.json").read_text())
        for name in ("group", "gshadow", "passwd", "shadow")[:done]:
            (cut.root / "etc" / name).write_text(jail.read(name))
        (cut.root / "etc" / "shadow.slipway").write_text("alice:*:half a li")
        (cut.root / "home" / ".alice.slipway").mkdir(parents=True)
        (cut.root / "home" / ".alice.slipway" / "half").write_text("")
        cut.apply(BOTH)
        assert cut.content() == whole


def test_what_a_killed_run_has_made_is_known_to_be_ours(jail: Jail) -> None:
    """Else a user who is taken back before the next run would stay for ever."""
    jail.apply(ONLY_BOB)
    (jail.root / "etc" / "skel").rename(jail.root / "etc" / "elsewhere")  # no home can be made: the run ends there
    with pytest.raises(AssertionError, match="skel"):
        jail.apply(BOTH)
    assert "alice" in jail.entries("passwd")
    (jail.root / "etc" / "elsewhere").rename(jail.root / "etc" / "skel")
    jail.apply(ONLY_BOB)
    assert "alice" not in jail.entries("passwd")
    assert not jail.home("alice").exists()


@pytest.fixture
def script(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, so that it can be stopped anywhere."""
    monkeypatch.setenv("JAIL", str(jail.root))
    monkeypatch.setenv("IMAGE_ROOT", str(jail.image))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the script's folder is part of an image
    loader = importlib.machinery.SourceFileLoader("jail_users", str(SCRIPT))
    spec = importlib.util.spec_from_loader("jail_users", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Killed(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


def test_whoever_reads_a_file_meanwhile_sees_the_old_or_the_new_one(
    jail: Jail, script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, list[str]] = {}

    def kill_before_replacing(source: Path, target: Path) -> None:
        name = Path(target).name
        if name in FILES:
            seen[name] = [Path(target).read_text(), Path(source).read_text()]
            raise Killed

    table = jail.folder / "users.json"
    table.write_text(json.dumps(BOTH))
    monkeypatch.setattr(sys, "argv", ["users", str(table)])
    monkeypatch.setattr(os, "replace", kill_before_replacing)
    monkeypatch.setattr(os, "chown", lambda *_, **__: None)
    with pytest.raises(Killed):
        script.main()
    assert seen
    for name, (old, new) in seen.items():
        assert old == IMAGE[name]
        assert new.startswith(old)
        assert new.endswith("\n")
        assert jail.read(name) == old


def test_passwords_are_at_no_time_readable_for_others(
    jail: Jail, script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users live beside these files, and a killed run leaves what it has written so far."""

    def kill(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(Path, "chmod", kill)
    monkeypatch.setattr(os, "chmod", kill)
    monkeypatch.setattr(os, "fchmod", kill)
    with pytest.raises(Killed):
        script.write(jail.root / "etc" / "shadow", "carol:$y$hash:20000:0:99999:7:::\n", 0o640)
    files = [path for path in (jail.root / "etc").iterdir() if path.is_file()]
    left = [path for path in files if "$y$hash" in path.read_text()]
    assert [path.name for path in left if path.stat().st_mode & 0o007] == []


def test_two_runs_at_a_time_take_turns(jail: Jail) -> None:
    """A Job that is replaced may meet its predecessor."""
    table = jail.folder / "users.json"
    table.write_text(json.dumps(BOTH))
    with lock.held(jail.root) as file:
        run = subprocess.Popen([*PYTHON, SCRIPT, table], env=jail.environment, stdout=subprocess.PIPE, text=True)
        lock.someone_waits(file, run)
        assert "alice" not in jail.read("passwd")
        assert not (jail.root / ".slipway" / "users.json").exists()
    said, _ = run.communicate(timeout=lock.DEADLINE)
    assert "2 users" in said
    assert "alice" in jail.entries("passwd")
