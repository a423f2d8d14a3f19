"""Mounts that do not hide each other or the system."""

from collections.abc import Iterator, Sequence

from config.checks.finding import Finding
from config.paths import Path
from config.settings import Settings
from config.storage import Submount

# What the pods mount into the shared root themselves, or what it cannot do without.
SYSTEM = frozenset("/" + name for name in ("", "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin")) | {
    "/sys",
    "/tmp",  # noqa: S108 -- a name, nothing is written there
    "/usr",
    "/var",
}
HIDDEN = "/var/tmp"  # noqa: S108 -- a name, nothing is written there


def mount_paths_are_free(settings: Settings) -> Iterator[Finding]:
    """A volume over a system directory leaves a root that nobody can log in to."""
    everywhere: dict[str, Path] = {}
    yield from _free(("storage", "submounts"), settings.storage.submounts, everywhere)
    for name, each in settings.all_node_sets.items():
        yield from _free((*settings.path_of(name), "submounts"), each.submounts, dict(everywhere))


def _free(place: Path, submounts: Sequence[Submount], seen: dict[str, Path]) -> Iterator[Finding]:
    for index, each in enumerate(submounts):
        path = (*place, index, "mountPath")
        first = seen.setdefault(each.mount_path, (*place, index))
        if each.mount_path in SYSTEM or each.mount_path.startswith(("/dev/", "/proc/", "/sys/", "/run/", "/etc/slurm")):
            yield Finding(path, f"{each.mount_path} belongs to the system; choose another path")
        elif first != (*place, index):
            taken = ".".join(map(str, first))
            message = f"{each.mount_path} is taken by {taken}; choose another path"
            yield Finding(path, message, ((*first, "mountPath"),))


def own_volumes_are_not_hidden(settings: Settings) -> Iterator[Finding]:
    """A private /var/tmp comes over whatever is there."""
    if not settings.slurm.private_tmp:
        return
    places = {("storage", "submounts"): settings.storage.submounts}
    places |= {(*settings.path_of(name), "submounts"): each.submounts for name, each in settings.all_node_sets.items()}
    for place, submounts in places.items():
        for index, each in enumerate(submounts):
            if each.mount_path == HIDDEN or each.mount_path.startswith(f"{HIDDEN}/"):
                message = f"jobs have a {HIDDEN} of their own, which hides it; choose another path"
                yield Finding((*place, index, "mountPath"), message, (("slurm", "privateTmp"),))
