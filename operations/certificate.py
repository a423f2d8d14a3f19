"""`operations/run certificate HOST`: the authority, the certificate that it has signed for one host name, and its key,
each in base64. The authority's own key is thrown away: it signs nothing else, ever."""

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from operations.problem import Problem

DAYS = "3650"
EXTENSIONS = """basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
authorityKeyIdentifier=keyid
subjectKeyIdentifier=hash
subjectAltName=DNS:{host}
"""
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def make(host: str) -> list[bytes]:
    """Authority, certificate and key, as PEM."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        (at / "extensions").write_text(EXTENSIONS.format(host=host))
        authority = ("-keyout", at / "ca.key", "-out", at / "ca.crt", "-days", DAYS, "-subj", "/CN=slipway bridge")
        _openssl("req", "-x509", *CURVE, *authority, "-addext", "keyUsage=critical,keyCertSign")
        # The name is in the extensions; a common name has room for 64 characters only.
        _openssl("req", "-new", *CURVE, "-keyout", at / "tls.key", "-out", at / "csr", "-subj", "/CN=bridge-admission")
        signed = ("-CA", at / "ca.crt", "-CAkey", at / "ca.key", "-CAcreateserial", "-days", DAYS)
        _openssl("x509", "-req", "-in", at / "csr", *signed, "-extfile", at / "extensions", "-out", at / "tls.crt")
        return [(at / name).read_bytes() for name in ("ca.crt", "tls.crt", "tls.key")]


def _openssl(*words: str | Path) -> None:
    try:
        done = subprocess.run(["openssl", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise Problem("openssl is not on PATH: install it, or use cert-manager (bridge.certificate).") from None
    if done.returncode:
        raise Problem(f"openssl {words[0]}: {done.stderr.strip()[-500:]}")


def main(host: str) -> int:
    sys.stdout.write(" ".join(base64.b64encode(each).decode() for each in make(host)))
    return 0
