"""Users and groups that do not stand in each other's way, or in the system's."""

from collections import defaultdict
from collections.abc import Iterator

from config.checks.finding import Finding
from config.paths import Path
from config.settings import Settings

# Users and groups that Debian and the daemons bring along.
_SYSTEM = """
    root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc nobody nogroup _apt adm tty disk
    dialout fax voice cdrom floppy tape sudo audio dip operator src shadow utmp video sasl plugdev staff users sshd _ssh
    munge slurm messagebus kvm render crontab input systemd-journal systemd-network systemd-timesync
"""
SYSTEM_NAMES = frozenset(_SYSTEM.split())
SYSTEM_IDS = {64030: "slurm", 65534: "nobody"}


def names_and_ids_are_unique(settings: Settings) -> Iterator[Finding]:
    """Two users with one uid own each other's files."""
    kinds: tuple[tuple[str, str, list[str | int]], ...] = (
        ("users", "name", [user.name for user in settings.users]),
        ("users", "uid", [user.uid for user in settings.users]),
        ("groups", "name", [group.name for group in settings.groups]),
        ("groups", "gid", [group.gid for group in settings.groups]),
    )
    for collection, key, values in kinds:
        for index, first in _repeated(values):
            said = f"{values[index]} belongs to {collection}.{first} already; each {key} is there once"
            yield Finding((collection, index, key), said)
    groups = {group.name: group.gid for group in settings.groups}
    gids = {group.gid: group.name for group in settings.groups}
    for index, user in enumerate(settings.users):
        if user.gid is None and user.name in groups:
            message = f"a group is named `{user.name}` too; set gid: {groups[user.name]}, or rename the group"
            yield Finding(("users", index, "name"), message, (("users", index, "gid"), ("groups",)))
        elif user.gid is None and user.uid in gids:
            message = f"{user.uid} is the gid of group `{gids[user.uid]}`, and the user's own group needs it; set gid"
            yield Finding(("users", index, "uid"), message, (("users", index, "gid"), ("groups",)))


def _repeated(values: list[str | int]) -> Iterator[tuple[int, int]]:
    """Each place where a value stands again, and where it stood first."""
    places: dict[str | int, list[int]] = defaultdict(list)
    for index, value in enumerate(values):
        places[value].append(index)
    for first, *others in places.values():
        yield from ((index, first) for index in others)


def ids_are_free(settings: Settings) -> Iterator[Finding]:
    """The system's own names and ids are taken in every image."""
    named: list[tuple[Path, str]] = [(("users", index), user.name) for index, user in enumerate(settings.users)]
    named += [(("groups", index), group.name) for index, group in enumerate(settings.groups)]
    for path, name in named:
        if name in SYSTEM_NAMES:
            yield Finding((*path, "name"), f"`{name}` belongs to the system; choose another name")
    ids: list[tuple[Path, int | None]] = [(("users", n, "uid"), user.uid) for n, user in enumerate(settings.users)]
    ids += [(("users", n, "gid"), user.gid) for n, user in enumerate(settings.users)]
    ids += [(("groups", n, "gid"), group.gid) for n, group in enumerate(settings.groups)]
    for path, number in ids:
        if number in SYSTEM_IDS:
            yield Finding(path, f"{number} is the id of the system user `{SYSTEM_IDS[number]}`; choose another one")


def users_have_one_of_each_group(settings: Settings) -> Iterator[Finding]:
    """A list with repetitions is a mistake of some kind."""
    for index, user in enumerate(settings.users):
        for place, first in _repeated([*user.groups]):
            message = f"`{user.groups[first]}` is listed twice; keep it once"
            yield Finding(("users", index, "groups", place), message)
        for place, first in _repeated([*user.ssh_keys]):
            yield Finding(("users", index, "sshKeys", place), f"is the same as entry {first}; keep it once")
