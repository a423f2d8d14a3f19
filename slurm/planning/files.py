"""Steps for the files beside slurm.conf."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from slurm.conf import lines, logical
from slurm.keys import FILES, SCRIPT, SCRIPT_KEYS, Entry, File, find, worst
from slurm.keys.entry import reconfigure, refused
from slurm.planning.cluster import ALL, Cluster, concerned
from slurm.planning.cluster_keys import differing
from slurm.planning.gres import gres_steps
from slurm.planning.live import drain
from slurm.planning.step import Change, Step, make_step, summary


def file_steps(old: Cluster, new: Cluster) -> Iterator[Step]:
    inside = {"slurm.conf", *_included(old), *_included(new)}
    for name in sorted({*old.files, *new.files} - inside):
        before, after = old.files.get(name), new.files.get(name)
        if before == after:
            continue
        kind = _kind(name, old, new)
        if kind is None:
            yield make_step(_unknown(name), name, "(file)", (summary(before), summary(after)))
        elif kind.shape == "gres":
            yield from gres_steps(old, new, name, kind)
        elif kind.shape == "keys":
            yield from _keys(old, new, name, kind)
        elif kind.shape == "records":
            yield from _records(old, new, name, kind)
        elif kind.shape == "lines":
            yield from _list(before or "", after or "", name, kind)
        else:
            yield from _whole(old, new, name, kind)


def _included(side: Cluster) -> set[str]:
    return {line["Include"] for line in side.conf.lines.get("Include", ())}


def _kind(name: str, old: Cluster, new: Cluster) -> File | None:
    if name in FILES:
        return FILES[name]
    scripts = {
        PurePosixPath(part).name
        for side in (old, new)
        for key in SCRIPT_KEYS
        for part in re.split(r"[,\s]+", side.conf.keys.get(key, ""))
    }
    return SCRIPT if PurePosixPath(name).name in scripts else None


def _unknown(name: str) -> Entry:
    return refused(
        f"{name} is no file that Slurm 26.05 reads, and no key of slurm.conf names it. Take it out, or name it in the "
        "key that runs it, such as Prolog."
    )


def _keys(old: Cluster, new: Cluster, name: str, kind: File) -> Iterator[Step]:
    ours, theirs = (_flat(side.files.get(name, ""), name, kind) for side in (old, new))
    for key, entry, before, after in differing(ours, theirs, kind.keys, name):
        yield _step(old, new, entry, name, key, (before, after))


def _flat(text: str, name: str, kind: File) -> dict[str, str]:
    spelling = {key.lower(): key for key in kind.keys}
    return {spelling.get(key.lower(), key): value for line in lines(text, name) for key, value in line.pairs}


def _records(old: Cluster, new: Cluster, name: str, kind: File) -> Iterator[Step]:
    """Lines that begin with a head are one thing each, such as a switch; the others hold for the file."""
    ours, theirs = (_grouped(side.files.get(name, ""), name, kind) for side in (old, new))
    for head in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(head), theirs.get(head)
        if before is None or after is None:
            entries = [find(kind.keys, key, name) for each in (before or after or []) for key in each]
            if before is not None:
                entries = [entry for entry in entries if entry.cls != "refused"] or [reconfigure("The line goes.")]
        else:
            entries = [
                entry
                for at in range(max(len(before), len(after)))
                for _, entry, _, _ in differing(_at(before, at), _at(after, at), kind.keys, name)
            ]
        if entries:
            yield _step(old, new, worst(entries), name, head, (_shown(before), _shown(after)))


def _at(records: list[dict[str, str]], at: int) -> dict[str, str]:
    return records[at] if at < len(records) else {}


def _shown(records: list[dict[str, str]] | None) -> str | None:
    if records is None:
        return None
    return "; ".join(" ".join(f"{key}={value}" for key, value in each.items()) for each in records)


def _grouped(text: str, name: str, kind: File) -> dict[str, list[dict[str, str]]]:
    spelling = {key.lower(): key for key in kind.keys}
    found: dict[str, list[dict[str, str]]] = {}
    for line in lines(text, name):
        fields = {spelling.get(key.lower(), key): value for key, value in line.pairs}
        key, value = next(iter(fields.items()))
        found.setdefault(f"{key}={value}" if key in kind.heads else key, []).append(fields)
    return found


def _list(before: str, after: str, name: str, kind: File) -> Iterator[Step]:
    """An ordered list, such as the plugins of plugstack.conf: what is gone, what is new, or another order."""
    assert kind.whole  # noqa: S101 -- the table says so, and its test
    ours, theirs = ([" ".join(content.split()) for _, content in logical(text, name)] for text in (before, after))
    for line in dict.fromkeys([*ours, *theirs]):
        if line not in ours or line not in theirs:
            change = line if line in ours else None, line if line in theirs else None
            yield make_step(kind.whole, name, line.split()[1] if " " in line else line, change)
    if sorted(ours) == sorted(theirs) and ours != theirs:
        yield make_step(kind.whole, name, "(order)", ("; ".join(ours), "; ".join(theirs)))


def _whole(old: Cluster, new: Cluster, name: str, kind: File) -> Iterator[Step]:
    assert kind.whole  # noqa: S101 -- the table says so, and its test
    before, after = (side.files.get(name) for side in (old, new))
    if kind.comments and _bare(before) == _bare(after):
        return
    yield _step(old, new, kind.whole, name, "(file)", (summary(before), summary(after)))


def _bare(text: str | None) -> list[str] | None:
    if text is None:
        return None
    stripped = (re.sub(r"(^|\s)#.*", "", line).rstrip() for line in text.splitlines())
    return [line for line in stripped if line]


def _step(old: Cluster, new: Cluster, entry: Entry, name: str, key: str, change: Change) -> Step:
    if entry.cls not in ("restart-workers", "drain-first"):
        return make_step(entry, name, key, change)
    commands = (drain(ALL),) if entry.cls == "drain-first" else ()
    return make_step(entry, name, key, change, commands, concerned(old, new, old.hosts))
