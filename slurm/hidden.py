"""Slurm's files without the secrets that somebody may have written into them: a preview masks nothing by itself."""

import re

from slurm.keys import FILES, SLURM_CONF

HIDDEN = "(hidden)"

_TABLES = (SLURM_CONF, *(file.keys for file in FILES.values()))
_KEYS = sorted({key for table in _TABLES for key, entry in table.items() if entry.secret})
_FILES = frozenset(name for name, file in FILES.items() if file.whole and file.whole.secret)
_VALUE = re.compile(rf'(?im)^([ \t]*(?:{"|".join(_KEYS)})[ \t]*=[ \t]*)(?:"[^"\n]*"|\S+)')


def without_secrets(text: str, name: str = "") -> str:
    """The text of the file `name`, or a part of any file, with the values of secret keys hidden."""
    if name in _FILES:
        return f"{HIDDEN}\n"
    return _VALUE.sub(rf"\g<1>{HIDDEN}", text)
