"""Mounts that do not hide each other or the system."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import Settings

# What the pods mount into the shared root themselves, or what it cannot do without.
SYSTEM = frozenset("/" + name for name in ("", "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin")) | {
    "/sys",
    "/tmp",  # noqa: S108 -- a name, nothing is written there
    "/usr",
    "/var",
}


def mount_paths_are_free(settings: Settings) -> Iterator[Finding]:
    """A volume over a system directory leaves a root that nobody can log in to."""
    seen: dict[str, int] = {}
    for index, each in enumerate(settings.storage.submounts):
        path = ("storage", "submounts", index, "mountPath")
        first = seen.setdefault(each.mount_path, index)
        if each.mount_path in SYSTEM or each.mount_path.startswith(("/dev/", "/proc/", "/sys/", "/run/", "/etc/slurm")):
            yield Finding(path, f"{each.mount_path} belongs to the system; choose another path")
        elif first != index:
            yield Finding(path, f"{each.mount_path} is taken by storage.submounts.{first}; choose another path")
