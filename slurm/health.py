"""What workers are told about their health: which checks there are, by what limits, and the user's own scripts."""

from config import Settings
from config.checks.health import BUILT_IN
from config.health import MARK
from slurm import places

FILES = ("prolog.sh", "epilog.sh")
SHELL = "#!/bin/sh\n"


def limits(settings: Settings) -> dict[str, str]:
    """Variables for the checks. What differs from one NodeSet to the next is a list by their names."""
    health, sets = settings.health, settings.all_node_sets
    gpus = [f"{name}={each.gpus.count}" for name, each in sets.items() if each.gpus]
    checks = [name for name in BUILT_IN if name not in health.skip and (name != "gpus" or gpus)]
    mounts = [places.JAIL, *(places.JAIL + each.mount_path for each in settings.storage.submounts)]
    found = {
        "CHECKS": " ".join(checks),
        "TIMEOUT": str(health.timeout.seconds),
        "MOUNTS": " ".join(mounts),
        "DISK_FREE": str(health.disk_free),
        "MEMORY_FREE": str(health.memory_free),
        "MEMORY_MIB": " ".join(f"{name}={each.memory.mib}" for name, each in sets.items()),
        "GPUS": " ".join(gpus),
        "CLOCK_OFFSET": str(health.clock_offset.seconds),
        "REBOOT": "yes" if health.reboot else "",
    }
    return {name: value for name, value in found.items() if value}


def scripts(kind: str, named: dict[str, str]) -> str:
    """Scripts below lines that say which they are. One that does not say what runs it is for sh."""
    parts = [f"{MARK}{kind} {name}\n{'' if text.startswith('#!') else SHELL}{text}" for name, text in named.items()]
    return "".join(parts)
