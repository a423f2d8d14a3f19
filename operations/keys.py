"""`operations/run keys KIND`: a new key in base64 on stdout. Only random bytes, and no dependency but ssh-keygen."""

import base64
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["munge", "slurm", "jwt", "host", "database"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_BYTES = {"munge": 1024, "slurm": 1024, "jwt": 64}


def make(kind: Kind) -> bytes:
    """The content of a key file."""
    if kind == "database":
        return secrets.token_hex(32).encode()  # it stands in a line of SQL
    return _host_key() if kind == "host" else secrets.token_bytes(_BYTES[kind])


def _host_key() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key"
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "slipway", "-f", str(key)]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
        return key.read_bytes()


def main(kind: Kind) -> int:
    sys.stdout.write(base64.b64encode(make(kind)).decode())
    return 0
