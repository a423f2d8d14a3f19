"""Certificates say who someone is, are signed by the lab's authority, and survive a restart."""

from pathlib import Path

import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from lab.layout import Lab
from lab.pki import Authority, kubeconfig, service_account_key


def test_a_certificate_names_its_holder_and_is_signed_by_the_authority(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    file, key = authority.issue("node", "system:node:n", "system:nodes", ["n", "10.0.0.1"])
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    signer = x509.load_pem_x509_certificate(authority.certificate.read_bytes())
    certificate.verify_directly_issued_by(signer)
    subject = {attribute.oid: attribute.value for attribute in certificate.subject}
    assert subject == {NameOID.COMMON_NAME: "system:node:n", NameOID.ORGANIZATION_NAME: "system:nodes"}
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["n"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1"]
    assert key.stat().st_mode & 0o077 == 0


def test_what_was_issued_once_stays_the_same_after_a_restart(tmp_path: Path) -> None:
    before = [path.read_bytes() for path in Authority(tmp_path).issue("admin", "admin")]
    account = service_account_key(tmp_path).read_bytes()
    assert [path.read_bytes() for path in Authority(tmp_path).issue("admin", "admin")] == before
    assert service_account_key(tmp_path).read_bytes() == account


def test_a_certificate_without_its_key_is_issued_again(tmp_path: Path) -> None:
    _, key = Authority(tmp_path).issue("admin", "admin")
    key.unlink()
    assert Authority(tmp_path).issue("admin", "admin")[1].exists()


def test_a_kubeconfig_needs_no_other_file(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    lab = Lab("x", 2)
    file = kubeconfig(lab, authority, tmp_path / "config", *authority.issue("admin", "admin"))
    content = yaml.safe_load(file.read_text())
    assert content["clusters"][0]["cluster"]["server"] == lab.server
    assert set(content["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}
    assert file.stat().st_mode & 0o077 == 0
