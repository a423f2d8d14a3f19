"""Where a cluster and its data are, outside of what Slurm reads: what cannot move while there are jobs and files."""

import json
from collections.abc import Mapping

from config import Settings
from config.storage import OwnVolume, Volume
from slurm.planning.step import Step

_REASON = (
    "What is stored there would stay behind: the queue, records, or users' files. Set it back, or build a new stack "
    "beside this one and move the data."
)


def places(settings: Settings) -> dict[str, str]:
    """Each place by the setting that names it."""
    found = {
        "cluster.namespace": settings.cluster.namespace,
        "controller.state": _state(settings),
        "storage.jail": _source(settings.storage.jail),
    }
    accounting = settings.accounting
    if accounting.enabled and accounting.database is None:
        found["accounting.mariadb.storage"] = _source(accounting.mariadb.storage)
    if accounting.enabled and accounting.archive.records:
        found["accounting.archive.storage"] = _source(accounting.archive.storage)
    for submount in settings.storage.submounts:
        found[f"storage.submounts {submount.mount_path}"] = _source(submount)
    for name, node_set in settings.all_node_sets.items():
        path = ".".join(map(str, settings.path_of(name)))
        for submount in node_set.submounts:
            if not submount.empty_dir:  # which keeps nothing
                found[f"{path}.submounts {submount.mount_path}"] = _source(submount)
    return found


def moves(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Step, ...]:
    """The refusals of a change of places: another place would be an empty one. What is new, or goes as a whole, is no
    move."""
    return tuple(
        Step("refused", "stack config", f"slipway:{key}", before[key], after[key], _REASON)
        for key in before
        if key in after and before[key] != after[key]
    )


def _state(settings: Settings) -> str:
    """A claim for one node does not become one for two: Kubernetes would make another, and an empty one."""
    source = _source(settings.controller.state)
    shared = settings.controller.backup and settings.controller.state.storage_class is not None
    return f"{source} for two nodes" if shared else source


def _source(volume: Volume | OwnVolume) -> str:
    named = volume.model_dump(include={"storage_class", "existing_claim", "host_path", "nfs"}, exclude_none=True)
    return json.dumps(named, sort_keys=True)
