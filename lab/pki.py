"""The lab's certificates and kubeconfigs: one authority, and a certificate of its own for everyone who speaks."""

import base64
import datetime
import ipaddress
from collections.abc import Iterable
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.layout import Lab

VALID = datetime.timedelta(days=3650)


class Authority:
    """Signs the certificates of one lab. Keys are made once and reused, so that a lab started again is the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.certificate = folder / "ca.crt"
        self._key_file = folder / "ca.key"
        if not self.certificate.exists():
            self._begin()
        key = serialization.load_pem_private_key(self._key_file.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self._key_file} is not an elliptic curve key")
        self._key = key
        self._name = x509.load_pem_x509_certificate(self.certificate.read_bytes()).subject

    def _begin(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "slipway-lab")])
        usage = x509.KeyUsage(True, False, True, False, False, True, True, False, False)
        builder = _unsigned(name, name, key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(usage, critical=True)
        write(self._key_file, _private(key))
        write(self.certificate, _public(builder.sign(key, hashes.SHA256())))

    def issue(self, file: str, common_name: str, group: str = "", hosts: Iterable[str] = ()) -> tuple[Path, Path]:
        """A certificate (`file`.crt) and its key (`file`.key) for `common_name`, for client and server use."""
        certificate, key_file = self.folder / f"{file}.crt", self.folder / f"{file}.key"
        if certificate.exists() and key_file.exists():
            return certificate, key_file
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        if group:
            attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        builder = _unsigned(x509.Name(attributes), self._name, key.public_key())
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(usage, critical=False)
        names = [_general_name(host) for host in hosts]
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        write(key_file, _private(key))
        write(certificate, _public(builder.sign(self._key, hashes.SHA256())))
        return certificate, key_file


def service_account_key(folder: Path) -> Path:
    """The key that signs service account tokens."""
    file = folder / "service-account.key"
    if not file.exists():
        write(file, _private(rsa.generate_private_key(public_exponent=65537, key_size=2048)))
    return file


def kubeconfig(lab: Lab, authority: Authority, file: Path, certificate: Path, key: Path) -> Path:
    """A kubeconfig with everything inside, so that it can be copied."""
    name = f"slipway-{lab.name}"
    cluster = {"server": lab.server, **_data("certificate-authority", authority.certificate)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {**_data("client-certificate", certificate), **_data("client-key", key)}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    write(file, yaml.safe_dump(content, sort_keys=False).encode())
    return file


def _data(field: str, file: Path) -> dict[str, str]:
    return {f"{field}-data": base64.b64encode(file.read_bytes()).decode()}


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _unsigned(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + VALID)
    )


def _private(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _public(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def write(file: Path, content: bytes) -> None:
    """All or nothing, and for the owner alone."""
    part = file.with_name(file.name + ".part")
    part.touch(mode=0o600)
    part.write_bytes(content)
    part.rename(file)
