"""One word for the whole of Slurm's files."""

import hashlib
from collections.abc import Mapping

# The same word, computed in the controller's pod from what is mounted there.
DIGEST = "cd /etc/slurm && sha256sum $(ls | LC_ALL=C sort) | sha256sum | cut -d' ' -f1"


def digest(files: Mapping[str, str]) -> str:
    sums = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return hashlib.sha256("".join(sums).encode()).hexdigest()
