"""What a change of each key takes, from the table that plans are made by."""

from collections.abc import Mapping

from slurm.keys import FILES, LINES, SEVERITY, SLURM_CONF, Entry, Table

FIELDS = {
    "NodeName": "Fields of nodes",
    "NodeSet": "Fields of sets of nodes",
    "PartitionName": "Fields of partitions",
    "DownNodes": "Fields of DownNodes lines",
    "PowerAction": "Fields of PowerAction lines",
}


def page() -> str:
    """Tables by file and line, and first how many keys have which class."""
    tables: dict[str, Table] = {"Keys of slurm.conf": SLURM_CONF}
    tables |= {f"{FIELDS[line]} (`{line}`)": table for line, table in LINES.items()}
    tables |= {f"`{name}`": _of_file(name) for name in FILES}
    parts = [_counted(tables)]
    parts += [f"## {title}\n\n{_table(table)}" for title, table in tables.items()]
    return "\n\n".join(parts)


def _of_file(name: str) -> Table:
    """Its keys, and what a change of the file as a whole takes where that is said."""
    file = FILES[name]
    return {**({"the whole file": file.whole} if file.whole else {}), **file.keys}


def _counted(tables: Mapping[str, Table]) -> str:
    entries = [entry for table in tables.values() for entry in table.values()]
    counts = {cls: sum(entry.cls == cls for entry in entries) for cls in SEVERITY}
    rows = [f"| `{cls}` | {count} |" for cls, count in counts.items() if count]
    return "\n".join(["| class | keys |", "|---|---|", *rows])


def _table(table: Table) -> str:
    rows = []
    for key, entry in table.items():
        rows.append(_row(key if " " in key else f"`{key}`", entry))
        rows += [_row(f"`{key}={option}`", each) for option, each in entry.options.items()]
    return "\n".join(["| key | class | why |", "|---|---|---|", *rows])


def _row(key: str, entry: Entry) -> str:
    also = "".join(f", then `{each}`" for each in entry.also)
    return f"| {key} | `{entry.cls}`{also} | {entry.reason.replace('|', chr(92) + '|')} |"
