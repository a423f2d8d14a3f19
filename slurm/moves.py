"""Where a cluster and its data are, outside of what Slurm reads: what cannot move while there are jobs and files."""

import json
from collections.abc import Mapping

from config import Settings
from config.storage import OwnVolume, Volume
from slurm.planning.step import Step

_REASON = (
    "What is stored there would stay behind: the queue, or users' files. Set it back, or build a new stack beside this "
    "one and move the data."
)


def places(settings: Settings) -> dict[str, str]:
    """Each place by the setting that names it."""
    found = {
        "cluster.namespace": settings.cluster.namespace,
        "controller.state": _source(settings.controller.state),
        "storage.jail": _source(settings.storage.jail),
    }
    for submount in settings.storage.submounts:
        found[f"storage.submounts {submount.mount_path}"] = _source(submount)
    return found


def moves(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Step, ...]:
    """The refusals of a change of places: another place would be an empty one. What is new, or goes as a whole, is no
    move."""
    return tuple(
        Step("refused", "stack config", f"slipway:{key}", before[key], after[key], _REASON)
        for key in before
        if key in after and before[key] != after[key]
    )


def _source(volume: Volume | OwnVolume) -> str:
    named = volume.model_dump(include={"storage_class", "existing_claim", "host_path", "nfs"}, exclude_none=True)
    return json.dumps(named, sort_keys=True)
