"""Keys: in no file that Slurm reads, and still a change. For the one that daemons know each other by, jobs are waited
for; with the one that signs tokens, tokens end."""

from collections.abc import Sequence

from config import Settings
from slurm.planning.step import Step


def auth_key(settings: Settings) -> list[str]:
    """Which key it is, by its setting, and its number."""
    kind = settings.cluster.auth
    return [f"slipway:secrets.{kind}", str(settings.secrets.munge if kind == "munge" else settings.secrets.slurm)]


def new_key(before: Sequence[str] | None, after: Sequence[str], more: bool) -> tuple[Step, ...]:
    """Daemons with different keys do not understand each other, so that nothing runs while they change. Another kind of
    authentication is a change of slurm.conf. `more` says that other things change as well."""
    if not before or before[0] != after[0] or before[1] == after[1]:
        return ()
    if more:
        why = "While keys change nobody can tell whether daemons have new files. Make the key in an update of its own."
        return (Step("refused", "stack config", after[0], before[1], after[1], why),)
    why = "All nodes are drained and their jobs waited for; then every daemon restarts with the new key."
    return (Step("drain-first", "stack config", after[0], before[1], after[1], why),)


def token_key(settings: Settings) -> str | None:
    """The number of the key that signs tokens; None where there are none."""
    return str(settings.secrets.jwt) if settings.rest.enabled else None


def new_token_key(before: str | None, after: str | None) -> tuple[Step, ...]:
    """slurmctld holds one such key at a time."""
    if before is None or after is None or before == after:
        return ()
    why = (
        "Tokens that were signed with the last key end: `slipway token` gives new ones. slurmctld restarts with the "
        "new key; jobs that run or wait stay as they are."
    )
    return (Step("restart-controller", "stack config", "slipway:secrets.jwt", before, after, why),)
