"""The key with which people log in to what runs in a lab: made once, and gone with the lab."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lab.layout import Lab
from lab.pki import write


def key(lab: Lab) -> Path:
    """The private key; its public half is beside it."""
    return lab.home / "ssh" / "id_ed25519"


def make_key(lab: Lab) -> None:
    private, public = key(lab), _public(lab)
    if public.exists():
        return
    private.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.OpenSSH
    write(private, made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    line = made.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    write(public, line + f" slipway-{lab.name}\n".encode())  # last: with it, the pair is complete


def variables(lab: Lab) -> dict[str, str]:
    """What the environment says about the key, if the lab has one already."""
    if not _public(lab).exists():
        return {}
    return {"SLIPWAY_LAB_SSH_KEY": str(key(lab)), "SLIPWAY_SSH_KEY": _public(lab).read_text().strip()}


def command(lab: Lab, given: str) -> str:
    """The ssh command `given` with the lab's key, and with host keys that the next lab has not to agree with."""
    program, _, rest = given.partition(" ")
    return f"{program} -i {key(lab)} -o UserKnownHostsFile={lab.home / 'ssh' / 'known_hosts'} {rest}"


def _public(lab: Lab) -> Path:
    return key(lab).with_suffix(".pub")
