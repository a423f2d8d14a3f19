"""The images as they were built: what runs from them can write to volumes only, and finds nothing left behind."""

import json
import re
import tarfile
from collections.abc import Iterator

import pytest

from lab import images
from lab.images import Image

IMAGES = {image.name: image for image in images.ours()}
Files = dict[str, tarfile.TarInfo]

# Folders that Debian's packages make for users of theirs. All are empty, and pods mount volumes where any is needed.
FOLDERS = re.compile(
    r"/tmp(/\.\w+-unix)?|/var/tmp|/run/lock|/var/mail"  # anybody's
    r"|/(etc|var/lib)/munge|/var/lib/slurm(/\w+)?|/var/lib/systemd/network|/run/systemd/netif(/\w+)?"
)


def members(image: Image) -> Iterator[tarfile.TarInfo]:
    """Everything that its layers bring, from the lowest to the highest."""
    with tarfile.open(image.archive) as archive:
        manifest = archive.extractfile("manifest.json")
        assert manifest
        for name in json.load(manifest)[0]["Layers"]:
            with tarfile.open(fileobj=archive.extractfile(name)) as layer:
                yield from layer


@pytest.fixture(params=IMAGES, scope="module")
def files(request: pytest.FixtureRequest) -> Files:
    """What is in an image by its path, without what a higher layer has taken away."""
    found: Files = {}
    for member in members(IMAGES[request.param]):
        folder, _, name = ("/" + member.name.removeprefix("./").strip("/")).rpartition("/")
        if not name.startswith(".wh."):
            found[f"{folder}/{name}"] = member
            continue
        gone = folder if name == ".wh..wh..opq" else f"{folder}/{name.removeprefix('.wh.')}"
        found = {path: each for path, each in found.items() if not (path == gone or path.startswith(f"{gone}/"))}
    assert "/etc/passwd" in found
    return found


def writable(files: Files) -> dict[str, tarfile.TarInfo]:
    """Files and folders that somebody other than root may write to. Devices are the container runtime's affair."""
    return {
        path: each
        for path, each in files.items()
        if (each.isfile() or each.isdir())
        and (each.mode & 0o002 or (each.uid and each.mode & 0o200) or (each.gid and each.mode & 0o020))
    }


def test_nobody_but_root_can_write_to_what_an_image_brings(files: Files) -> None:
    found = writable(files)
    assert not [path for path, each in found.items() if each.isfile()]
    assert not [path for path in found if not FOLDERS.fullmatch(path)]
    # Anybody's are safe from each other.
    assert not [path for path, each in found.items() if each.mode & 0o002 and not each.mode & 0o1000]


def test_folders_to_write_to_are_empty(files: Files) -> None:
    folders = tuple(f"{path}/" for path in writable(files))
    assert not [path for path, each in files.items() if path.startswith(folders) and not each.isdir()]


def test_no_log_no_cache_and_no_key_is_left_behind(files: Files) -> None:
    left = re.compile(r"/var/(log|cache/apt|lib/apt/lists)/.+|/etc/slurm/.+|.*\.key|.*/ssh_host_.*|/root/\.\w*history")
    assert not [path for path, each in files.items() if each.isfile() and left.fullmatch(path)]


# Debian's own, of packages that every system has, and of the ssh client.
MORE_RIGHTS = {
    *(f"/usr/bin/{name}" for name in ("chage", "chfn", "chsh", "gpasswd", "mount", "passwd", "su", "umount")),
    *("/usr/sbin/unix_chkpwd", "/usr/bin/ssh-agent", "/usr/lib/openssh/ssh-keysign"),
}
BUILDING = re.compile(
    r"/usr/(local/)?bin/(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|tcc|ld|as|make|go|rustc|gdb|strace)(-\d+)?"
)


def test_no_program_gives_more_rights_but_those_of_debian(files: Files) -> None:
    assert {path for path, each in files.items() if each.isfile() and each.mode & 0o6000} <= MORE_RIGHTS
    assert not [path for path, each in files.items() if "SCHILY.xattr.security.capability" in each.pax_headers]


def test_only_users_find_compilers_and_debuggers(files: Files, request: pytest.FixtureRequest) -> None:
    found = [path for path in files if BUILDING.fullmatch(path)]
    # The jail's image is what users have around them, and no daemon runs from it.
    assert bool(found) is (request.node.callspec.params["files"] == "jail"), found
