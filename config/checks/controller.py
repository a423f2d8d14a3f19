"""A second controller that can do its work."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import Settings

SOONEST = 10


def one_kind_of_second_controller(settings: Settings) -> Iterator[Finding]:
    """Room for a pod that moves is of no use where another one runs already."""
    if settings.controller.backup and settings.controller.standby:
        message = "not together with backup, which runs on the second node already; leave one of them out"
        yield Finding(("controller", "standby"), message, (("controller", "backup"),))


def takeovers_are_not_rash(settings: Settings) -> Iterator[Finding]:
    """A controller whose pod is replaced is silent for some seconds, and needs nobody to take over."""
    seconds = settings.controller.takeover.seconds or 0
    if settings.controller.backup and seconds < SOONEST:
        message = f"a pod that is replaced is silent for as long; say {SOONEST}s or more"
        yield Finding(("controller", "takeover"), message)
