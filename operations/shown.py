"""What slurmctld shows of itself, read and compared: `scontrol show config`, `partitions` and `nodes`.

A throwaway slurmctld with the same files shows what they mean, in Slurm's own words and with its own defaults. So
whether a live one has them is a comparison of two answers to the same question, and needs no table of how each value is
written."""

import re
from dataclasses import dataclass

# One answer after the other, each behind a line that says which it is.
SHOW = r"""
for what in config partitions nodes; do echo "=== $what"; scontrol show $what --oneliner; done
"""

_FIELD = re.compile(r"(?:^|(?<= ))([A-Z][A-Za-z_]*)=")
_PART = re.compile(r"^=== (\w+)$", re.MULTILINE)

Fields = dict[str, str]


@dataclass(frozen=True)
class Shown:
    config: Fields
    partitions: dict[str, Fields]
    nodes: dict[str, Fields]

    @classmethod
    def parse(cls, text: str) -> "Shown":
        """The output of SHOW."""
        words = _PART.split(text)
        parts = dict(zip(words[1::2], words[2::2], strict=True))
        pairs = (line.split("=", 1) for line in parts["config"].splitlines() if " = " in line)
        return cls(
            {key.strip(): value.strip() for key, value in pairs},
            records(parts["partitions"], "PartitionName"),
            records(parts["nodes"], "NodeName"),
        )


def records(text: str, head: str) -> dict[str, Fields]:
    """Lines of `--oneliner` by the name that they begin with. A text at the end may have anything in it."""
    found: dict[str, Fields] = {}
    for line in text.splitlines():
        if not line.startswith(f"{head}="):
            continue
        fields: Fields = {}
        places = list(_FIELD.finditer(line))
        for place, following in zip(places, [*places[1:], None], strict=True):
            value = line[place.end() : following.start() if following else None].strip()
            fields.setdefault(place[1], value)
        found[fields[head]] = fields
    return found
