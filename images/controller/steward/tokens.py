"""Tokens for slurmrestd in the name of SlurmUser: JSON web tokens, signed with the key that slurmctld knows them by."""

import base64
import hashlib
import json
from typing import Any

USER = "slurm"
_HEADER = {"alg": "HS256", "typ": "JWT"}


def sign(key: bytes, seconds: int, now: float) -> str:
    """Good from now on, for so many seconds."""
    claims = {"iat": int(now), "exp": int(now) + seconds, "sun": USER}
    body = ".".join(_text(json.dumps(each, separators=(",", ":")).encode()) for each in (_HEADER, claims))
    return f"{body}.{_signature(key, body)}"


def claims(key: bytes, token: str) -> dict[str, Any] | None:
    """What a token says; None if it was not signed with this key."""
    body, _, signature = token.rpartition(".")
    if not body or signature != _signature(key, body):
        return None
    payload = body.rpartition(".")[2]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def due(key: bytes, token: str, seconds: int, now: float) -> bool:
    """Whether the next one is to be made: half of its time is over, the key is another, or it is good for longer than
    tokens shall be."""
    said = claims(key, token)
    if said is None or said.get("sun") != USER:
        return True
    left = float(said.get("exp", 0)) - now
    return not seconds / 2 < left <= seconds


def digest(token: str) -> str:
    """Tells one token from another, and nothing else about it."""
    return hashlib.sha256(token.encode()).hexdigest()[:12]


def _signature(key: bytes, body: str) -> str:
    return _text(_hmac(key, body.encode()))


def _hmac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104): the image has a minimal Python, which has no `hmac`."""
    key = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(each ^ 0x36 for each in key) + message).digest()
    return hashlib.sha256(bytes(each ^ 0x5C for each in key) + inner).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
