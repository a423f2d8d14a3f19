"""Health checks that can work, and that nothing else stands in the way of."""

from collections.abc import Iterator
from typing import get_args

from config.checks.finding import Finding
from config.health import MARK, BuiltIn
from config.settings import Settings

BUILT_IN: tuple[str, ...] = get_args(get_args(BuiltIn)[0])
SHORTEST_INTERVAL = 5
LONGEST_TIMEOUT = 50  # Slurm itself ends checks that take a minute, and nobody would learn what has hung
SPARE = 3  # seconds between the end of the checks and the next round, to tell slurmctld what they found
MOST_TEXT = 256 * 1024  # of all scripts: they travel in one ConfigMap, with slurm.conf, to every worker
OWNED = {
    "Epilog": "set health.epilog",
    "HealthCheckInterval": "set health.interval",
    "HealthCheckNodeState": "take it away",
    "HealthCheckProgram": "set health.checks",
    "HealthCheckTimeout": "set health.timeout",
    "Prolog": "set health.prolog",
    "RebootProgram": "set health.reboot",
}
NO_HOLD = "nohold_on_prolog_fail"


def health_checks_can_work(settings: Settings) -> Iterator[Finding]:
    """Times that Slurm can keep, names that tell checks apart, and scripts that fit."""
    health = settings.health
    interval, timeout = health.interval.seconds or 0, health.timeout.seconds or 0
    longest = min(LONGEST_TIMEOUT, interval - SPARE)
    if interval < SHORTEST_INTERVAL:
        yield Finding(("health", "interval"), f"is shorter than {SHORTEST_INTERVAL}s; lengthen it")
    elif not 1 <= timeout <= longest:
        message = f"{health.timeout} is not between 1s and {longest}s, with an interval of {health.interval}; change it"
        yield Finding(("health", "timeout"), message, (("health", "interval"),))
    for name in health.checks:
        if name in BUILT_IN:
            message = "is the name of a built-in check; choose another (health.skip leaves a built-in one out)"
            yield Finding(("health", "checks", name), message)
    for kind, scripts in health.scripts.items():
        for name, text in scripts.items():
            if any(line.startswith(MARK) for line in text.splitlines()):
                message = (
                    f"has a line that begins with `{MARK.strip()}`, as what stands between scripts does; change it"
                )
                yield Finding(("health", kind, name), message)
    sizes = {kind: sum(map(len, scripts.values())) for kind, scripts in health.scripts.items()}
    if (total := sum(sizes.values())) > MOST_TEXT:
        message = f"all scripts together have {total} characters, and {MOST_TEXT} fit; put them into the shared root"
        yield Finding(("health", max(sizes, key=sizes.__getitem__)), message)


def health_has_its_keys(settings: Settings) -> Iterator[Finding]:
    """Slurm has one program for each; and a node that cannot run a job must not cost the job its place in the queue."""
    if not settings.health.enabled:
        return
    about = (("health", "enabled"),)
    for key, instead in OWNED.items():
        if key in settings.slurm.extra:
            yield Finding(("slurm", "extra", key), f"is what health.enabled sets; {instead}", about)
    parameters = settings.slurm.extra.get("SchedulerParameters")
    if parameters is not None and NO_HOLD not in parameters.split(","):
        message = f"must contain {NO_HOLD} (else jobs are held that met a failing node); add it"
        yield Finding(("slurm", "extra", "SchedulerParameters"), message, about)
