"""`images/jail/populate`: the shared root is filled once, and known to be whole only when it is."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.unit.jail import lock

SCRIPT = Path(__file__).parents[3] / "images" / "jail" / "populate"

# It stands in for rsync, whose source would be this machine's whole root: it takes down its arguments, makes what an
# image has, and ends as it is told to.
RSYNC = """\
#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done >> "$FAKES/rsync.words"
echo run >> "$FAKES/rsync.runs"
for target in "$@"; do :; done
[ -e "$JAIL/.slipway/populated" ] && echo yes >> "$FAKES/sentinel-seen"
/bin/mkdir -p "$target/etc" "$target/usr/bin"
echo "$IMAGE" > "$target/usr/bin/tool"
ln -sf ../run/resolv.conf "$target/etc/resolv.conf"
exit "$(cat "$FAKES/rsync.code" 2> /dev/null || echo 0)"
"""
# And for cp, whose source would be this machine's users and passwords.
CP = """\
#!/bin/sh
for target in "$@"; do :; done
if [ -e "$FAKES/cp.half" ]; then printf 'root:x:0' > "$target"; exit 1; fi
echo "from the image" > "$target"
"""
CHOWN = '#!/bin/sh\necho "$@" >> "$FAKES/chown.words"\n'


class Jail:
    """A shared root to fill, and the commands that the script finds."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "jail"
        self.fakes = folder / "bin"
        self.root.mkdir()
        self.fakes.mkdir()
        for name, text in {"rsync": RSYNC, "cp": CP, "chown": CHOWN}.items():
            (self.fakes / name).write_text(text)
            (self.fakes / name).chmod(0o755)

    def environment(self, image: str, overwrite: str | None) -> dict[str, str]:
        environment = {
            "PATH": f"{self.fakes}:{os.environ['PATH']}",
            "FAKES": str(self.fakes),
            "JAIL": str(self.root),
            "IMAGE": image,
        }
        if overwrite is not None:
            environment["OVERWRITE"] = overwrite
        return environment

    def populate(self, image: str = "jail:1", overwrite: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run([SCRIPT], env=self.environment(image, overwrite), capture_output=True, text=True)

    @property
    def runs(self) -> int:
        runs = self.fakes / "rsync.runs"
        return len(runs.read_text().splitlines()) if runs.exists() else 0

    @property
    def words(self) -> list[str]:
        return (self.fakes / "rsync.words").read_text().splitlines()

    @property
    def sentinel(self) -> Path:
        return self.root / ".slipway" / "populated"


@pytest.fixture
def jail(tmp_path: Path) -> Jail:
    return Jail(tmp_path)


def test_an_empty_root_is_filled_and_then_known_to_be_whole(jail: Jail) -> None:
    run = jail.populate("jail:1")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["filling the shared root from jail:1", "done"]
    assert jail.sentinel.read_text() == "jail:1\n"
    assert (jail.root / "usr" / "bin" / "tool").exists()
    assert not (jail.fakes / "sentinel-seen").exists()


def test_it_fills_the_root_that_it_is_told_and_does_not_copy_that_into_itself(jail: Jail) -> None:
    jail.populate()
    assert jail.words[-2:] == ["/", f"{jail.root}/"]
    assert f"--exclude={jail.root}" in jail.words
    assert "--one-file-system" in jail.words


def test_nothing_is_deleted_and_homes_are_not_touched(jail: Jail) -> None:
    jail.populate()
    assert not [word for word in jail.words if word.startswith("--delete")]
    assert {"--exclude=/home/*", "--exclude=/tmp/*"} <= set(jail.words)
    for name in ("passwd", "group", "shadow", "gshadow"):
        assert f"--exclude=/etc/{name}" in jail.words


def test_a_second_run_does_nothing(jail: Jail) -> None:
    jail.populate("jail:1")
    run = jail.populate("jail:2")
    assert run.returncode == 0
    assert jail.runs == 1
    assert "filled already, from jail:1" in run.stdout
    assert jail.sentinel.read_text() == "jail:1\n"


@pytest.mark.parametrize("overwrite", ["false", "", "yes", "1"])
def test_only_the_word_true_is_leave_to_overwrite(jail: Jail, overwrite: str) -> None:
    jail.populate("jail:1")
    jail.populate("jail:2", overwrite)
    assert jail.runs == 1


def test_with_leave_to_overwrite_it_is_filled_again(jail: Jail) -> None:
    jail.populate("jail:1")
    run = jail.populate("jail:2", "true")
    assert run.returncode == 0, run.stderr
    assert jail.runs == 2
    assert jail.sentinel.read_text() == "jail:2\n"
    assert (jail.root / "usr" / "bin" / "tool").read_text() == "jail:2\n"


def test_users_and_groups_that_are_there_outlive_an_overwrite(jail: Jail) -> None:
    jail.populate()
    (jail.root / "etc" / "passwd").write_text("with users of our own")
    jail.populate("jail:2", "true")
    assert (jail.root / "etc" / "passwd").read_text() == "with users of our own"
    assert (jail.root / "etc" / "group").read_text() == "from the image\n"


def test_a_copy_that_fails_leaves_no_sentinel_and_heals(jail: Jail) -> None:
    (jail.fakes / "rsync.code").write_text("23")
    assert jail.populate().returncode != 0
    assert not jail.sentinel.exists()
    (jail.fakes / "rsync.code").unlink()
    assert jail.populate().returncode == 0
    assert jail.runs == 2
    assert jail.sentinel.exists()


@pytest.mark.parametrize("command", ["cp", "mkdir", "chmod", "sync", "mv"])
def test_a_run_that_ends_anywhere_before_the_sentinel_heals(jail: Jail, command: str) -> None:
    """With each of its later steps in turn."""
    real = jail.fakes / command
    kept = real.read_text() if real.exists() else None
    real.write_text('#!/bin/sh\n[ -e "$FAKES/rsync.runs" ] || exec /bin/mkdir "$@"\nexit 1\n')
    real.chmod(0o755)
    assert jail.populate().returncode == 1
    assert jail.runs == 1
    assert not jail.sentinel.exists()
    if kept is None:
        real.unlink()
    else:
        real.write_text(kept)
    run = jail.populate()
    assert run.returncode == 0, run.stderr
    assert jail.runs == 2
    assert jail.sentinel.read_text() == "jail:1\n"
    assert (jail.root / "etc" / "passwd").read_text() == "from the image\n"


def test_a_list_of_users_that_was_cut_short_heals(jail: Jail) -> None:
    (jail.fakes / "cp.half").touch()
    assert jail.populate().returncode != 0
    (jail.fakes / "cp.half").unlink()
    assert jail.populate().returncode == 0
    assert (jail.root / "etc" / "passwd").read_text() == "from the image\n"


def test_what_pods_mount_over_is_an_empty_file_and_never_a_link(jail: Jail) -> None:
    """A link would lead out of the shared root, to the pod's own file."""
    jail.populate()
    for name in ("hostname", "hosts", "resolv.conf"):
        file = jail.root / "etc" / name
        assert file.is_file()
        assert not file.is_symlink()
        assert file.read_text() == ""


def test_places_for_the_kernels_file_systems_are_there(jail: Jail) -> None:
    jail.populate()
    for name in ("dev", "proc", "sys", "run", "tmp"):
        assert (jail.root / name).is_dir()
    assert stat.S_IMODE((jail.root / "tmp").stat().st_mode) == 0o1777


def test_the_root_itself_is_one_that_sshd_lets_users_into(jail: Jail) -> None:
    jail.root.chmod(0o777)
    jail.populate()
    assert stat.S_IMODE(jail.root.stat().st_mode) == 0o755
    assert (jail.fakes / "chown.words").read_text() == f"root:root {jail.root}\n"


def test_who_waits_for_the_shared_root_waits_for_this_sentinel(jail: Jail) -> None:
    waits = SCRIPT.parents[1] / "common" / "slipway" / "wait-for-jail"
    place = jail.sentinel.relative_to(jail.root)
    assert f"/mnt/jail/{place}" in waits.read_text()


def test_two_runs_at_a_time_take_turns(jail: Jail) -> None:
    """The second one finds the root filled, and leaves it alone."""
    with lock.held(jail.root) as file:
        environment = jail.environment("jail:2", None)
        run = subprocess.Popen([SCRIPT], env=environment, stdout=subprocess.PIPE, text=True)
        lock.someone_waits(file, run)
        assert jail.runs == 0
        jail.sentinel.write_text("jail:1\n")
    said, _ = run.communicate(timeout=lock.DEADLINE)
    assert "filled already, from jail:1" in said
    assert jail.runs == 0
