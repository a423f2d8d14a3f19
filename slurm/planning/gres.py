"""Steps for gres.conf: what a node offers is all lines that name it together, in whatever way they are split."""

from collections.abc import Iterator

from slurm.conf import Line, lines
from slurm.hostlist import Hosts, Key
from slurm.keys import File, find
from slurm.keys.entry import reconfigure
from slurm.planning.cluster import Cluster, concerned
from slurm.planning.live import drain
from slurm.planning.records import Piece, piece, sweep
from slurm.planning.step import Step, make_step, summary
from slurm.ranges import parse

_OTHER_NODES = reconfigure("It concerns only nodes that come or go; all daemons read it at a reconfigure.")


def gres_steps(old: Cluster, new: Cluster, name: str, kind: File) -> Iterator[Step]:
    """One step for the devices of nodes that stay, or of those that come and go, and one for each unknown key."""
    before, after = (list(lines(side.files.get(name, ""), name)) for side in (old, new))
    for key, value in dict(pair for line in after for pair in line.pairs).items():
        entry = find(kind.keys, key, name)
        if entry.cls == "refused" and not any(key == known for line in before for known, _ in line.pairs):
            yield make_step(entry, name, key, (None, value))
    ours, theirs = _offers(before), _offers(after)
    differing: dict[Key, list[tuple[int, int]]] = {}
    for segment in sweep(ours[0], theirs[0]):
        if {each.line for each in segment.old} != {each.line for each in segment.new}:
            differing.setdefault(segment.key, []).append((segment.low, segment.high))
    staying = old.hosts & new.hosts
    hosts = Hosts(differing)
    changed = staying if ours[1] != theirs[1] else hosts & staying
    change = summary(old.files.get(name)), summary(new.files.get(name))
    if changed:
        commands = (drain(str(changed)),)
        yield make_step(kind.keys["File"], name, "(devices)", change, commands, concerned(old, new, changed))
    elif hosts or ours[1] != theirs[1]:
        yield make_step(_OTHER_NODES, name, "(devices)", change, concerned=concerned(old, new, hosts))


def _offers(side: list[Line]) -> tuple[list[Piece], frozenset[str]]:
    """What is offered by nodes that are named, and what by all nodes."""
    named: list[Piece] = []
    general: set[str] = set()
    for line in side:
        fields = {key.lower(): value for key, value in line.pairs}
        nodes = fields.pop("nodename", None)
        offer = " ".join(f"{key}={value}" for key, value in sorted(fields.items()))
        if not nodes:
            general.add(offer)
            continue
        for each in parse(nodes):
            named.extend(piece(each, offer, {}))
    return named, frozenset(general)
