"""Steps for the files beside slurm.conf."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from slurm.conf import lines, logical
from slurm.keys import FILES, SCRIPT, SCRIPT_KEYS, Entry, File, find, worst
from slurm.keys.entry import reconfigure, refused
from slurm.planning.cluster import ALL, Cluster, concerned
from slurm.planning.cluster_keys import differing
from slurm.planning.dynamic import dynamic_steps
from slurm.planning.gres import gres_steps
from slurm.planning.live import drain
from slurm.planning.step import Change, Step, make_step, summary, touches_jobs


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
        elif kind.shape == "nodes":
            yield from dynamic_steps(old, new, name, kind)
        elif kind.shape == "keys":
            yield from _keys(old, new, name, kind)
        elif kind.shape == "records":
            yield from _records(old, new, name, kind)
        elif kind.shape == "lines" and kind.whole:
            yield from _list(before or "", after or "", name, kind.whole)
        elif kind.whole and not (kind.comments and _bare(before) == _bare(after)):
            yield _step(old, new, kind.whole, name, "(file)", (summary(before), summary(after)))


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
    comes_or_goes = kind.whole and (name not in old.files or name not in new.files)
    if kind.whole and comes_or_goes:
        change = summary(old.files.get(name)), summary(new.files.get(name))
        yield _step(old, new, kind.whole, name, "(file)", change)
    for key, entry, before, after in differing(ours, theirs, kind.keys, name):
        if key not in kind.keys or not comes_or_goes:
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


def _list(before: str, after: str, name: str, entry: Entry) -> Iterator[Step]:
    """An ordered list, such as the plugins of plugstack.conf: what is gone, what is new, or another order."""
    ours, theirs = ([" ".join(content.split()) for _, content in logical(text, name)] for text in (before, after))
    before_by_plugin, after_by_plugin = _by_plugin(ours), _by_plugin(theirs)
    for plugin in dict.fromkeys([*before_by_plugin, *after_by_plugin]):
        change = before_by_plugin.get(plugin), after_by_plugin.get(plugin)
        if change[0] != change[1]:
            yield make_step(entry, name, plugin, change)
    if sorted(ours) == sorted(theirs) and ours != theirs:
        yield make_step(entry, name, "(order)", ("; ".join(ours), "; ".join(theirs)))


def _by_plugin(listed: list[str]) -> dict[str, str]:
    """`required chroot.so /jail` by the plugin that it loads."""
    found: dict[str, list[str]] = {}
    for line in listed:
        found.setdefault((line.split() * 2)[1], []).append(line)
    return {plugin: "; ".join(each) for plugin, each in found.items()}


def _bare(text: str | None) -> list[str] | None:
    """Without comments, of which no YAML reader takes notice."""
    if text is None:
        return None
    stripped = (re.sub(r"(^|\s)#.*", "", line).rstrip() for line in text.splitlines())
    return [line for line in stripped if line]


def _step(old: Cluster, new: Cluster, entry: Entry, name: str, key: str, change: Change) -> Step:
    if not touches_jobs(entry):
        return make_step(entry, name, key, change)
    commands = (drain(ALL),) if entry.cls == "drain-first" else ()
    return make_step(entry, name, key, change, commands, concerned(old, new, old.hosts))
