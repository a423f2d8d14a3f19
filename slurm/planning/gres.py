"""Steps for gres.conf: what a node offers is all lines that name it together, in whatever way they are split."""

from collections.abc import Iterator

from slurm.conf import lines
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
    """One step for the devices of nodes that stay, or of those that come and go, and one for each unknown key in what
    is offered anew."""
    ours, theirs = (_offers(side.files.get(name, ""), name, kind) for side in (old, new))
    differing: dict[Key, list[tuple[int, int]]] = {}
    offered = set(theirs[1] - ours[1])
    for segment in sweep(ours[0], theirs[0]):
        before, after = ({each.line for each in side} for side in (segment.old, segment.new))
        if before != after:
            differing.setdefault(segment.key, []).append((segment.low, segment.high))
            offered |= after - before
    for key, _, value in sorted({field.partition("=") for offer in offered for field in offer.splitlines()}):
        if (entry := find(kind.keys, key, name)).cls == "refused":
            yield make_step(entry, name, key, (None, value))
    staying = old.hosts & new.hosts
    hosts = Hosts(differing)
    changed = staying if ours[1] != theirs[1] else hosts & staying
    change = summary(old.files.get(name)), summary(new.files.get(name))
    if changed:
        commands = (drain(str(changed)),)
        yield make_step(kind.keys["File"], name, "(devices)", change, commands, concerned(old, new, changed))
    elif hosts or ours[1] != theirs[1]:
        yield make_step(_OTHER_NODES, name, "(devices)", change, concerned=concerned(old, new, hosts))


def _offers(text: str, name: str, kind: File) -> tuple[list[Piece], frozenset[str]]:
    """What is offered by nodes that are named, and what by all nodes; an offer has one field a line."""
    spelling = {key.lower(): key for key in kind.keys}
    named: list[Piece] = []
    general: set[str] = set()
    for line in lines(text, name):
        fields = {spelling.get(key.lower(), key): value for key, value in line.pairs}
        nodes = fields.pop("NodeName", None)
        offer = "\n".join(f"{key}={value}" for key, value in sorted(fields.items()))
        if not nodes:
            general.add(offer)
            continue
        for each in parse(nodes):
            named.extend(piece(each, offer, {}))
    return named, frozenset(general)
