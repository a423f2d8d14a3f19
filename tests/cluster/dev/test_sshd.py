"""sshd as it runs, by its own account: keys only, no root, nothing that is known to be weak."""

import re
import subprocess

import pytest

from tests.cluster.stacks import Stack

WEAK = re.compile(r"sha1|md5|cbc|3des|arcfour|blowfish|umac-64|dss|group1-|group14-|^ssh-rsa|^none$", re.IGNORECASE)
ALGORITHMS = (
    "ciphers",
    "macs",
    "kexalgorithms",
    "hostkeyalgorithms",
    "pubkeyacceptedalgorithms",
    "casignaturealgorithms",
)


@pytest.fixture(scope="module")
def effective(dev: Stack) -> dict[str, str]:
    """What it really does, with all that its file leaves open."""
    told = dev.kubectl("exec", "login-0", "-c", "sshd", "--", "/usr/sbin/sshd", "-T", "-f", "/etc/ssh/sshd_config")
    return {key.lower(): value for key, _, value in (line.partition(" ") for line in told.splitlines())}


def test_a_key_is_the_only_way_in(effective: dict[str, str]) -> None:
    assert effective["authenticationmethods"] == "publickey"
    for way in ("passwordauthentication", "kbdinteractiveauthentication", "hostbasedauthentication", "usepam"):
        assert effective[way] == "no", way
    assert effective["permitemptypasswords"] == "no"
    assert effective.get("gssapiauthentication", "no") == "no"  # Debian may build it without
    assert effective["pubkeyauthentication"] == "yes"


def test_root_does_not_log_in_and_users_land_in_the_shared_root(effective: dict[str, str]) -> None:
    assert effective["permitrootlogin"] == "no"
    assert effective["chrootdirectory"] == "/mnt/jail"


def test_nothing_of_the_pod_is_lent_to_users(effective: dict[str, str]) -> None:
    for what in (
        "permittunnel",
        "x11forwarding",
        "gatewayports",
        "allowstreamlocalforwarding",
        "permituserenvironment",
    ):
        assert effective[what] == "no", what
    assert effective["allowtcpforwarding"] == "local"


@pytest.mark.parametrize("kind", ALGORITHMS)
def test_no_algorithm_is_known_to_be_weak(effective: dict[str, str], kind: str) -> None:
    offered = effective[kind].split(",")
    assert len(offered) > 1, effective[kind]
    assert not [each for each in offered if WEAK.search(each)]


def test_keys_are_agreed_upon_in_a_way_that_outlives_todays_computers(effective: dict[str, str]) -> None:
    assert effective["kexalgorithms"].startswith(("mlkem768x25519", "sntrup761x25519"))


def test_short_keys_do_not_count(effective: dict[str, str]) -> None:
    assert int(effective["requiredrsasize"]) >= 2048


@pytest.mark.parametrize(
    "option", ["MACs=hmac-sha1", "Ciphers=aes128-cbc", "KexAlgorithms=diffie-hellman-group14-sha1"]
)
def test_who_insists_on_a_weak_algorithm_is_turned_away(dev: Stack, option: str) -> None:
    # With others the message authentication is part of the cipher, and not chosen.
    plain = ["-o", "Ciphers=aes128-ctr"] if option.startswith("MACs") else []
    ssh, *words = dev.ssh_argv("-o", option, *plain)
    argv = [ssh, "-o", "LogLevel=INFO", "-o", "ConnectionAttempts=1", *words, "true"]  # of each, the first one counts
    refused = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 255
    assert "no matching" in refused.stderr, refused.stderr
