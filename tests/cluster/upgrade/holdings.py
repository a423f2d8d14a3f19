"""What people would miss if an upgrade took it from them."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.cluster.stacks import Stack

KINDS = ("namespaces", "persistentvolumeclaims", "secrets", "statefulsets", "services")
FILES = ("~/kept/file", "~/kept/link", "/data/file", "/opt/tool", "/etc/motd", "/.slipway/populated")


@dataclass(frozen=True)
class Holdings:
    """Objects by what Kubernetes tells one from its successor by, contents of Secrets, files, and the host key."""

    objects: dict[str, str]
    secrets: dict[str, dict[str, str]]
    files: str
    host_key: str

    @classmethod
    def leave(cls, stack: Stack) -> "Holdings":
        """Make files, as users and administrators do, and look."""
        stack.run("mkdir ~/kept && echo mine > ~/kept/file && chmod 600 ~/kept/file && ln -s file ~/kept/link")
        by_root = "cd /mnt/jail; echo tool > opt/tool; chmod 755 opt/tool; echo hello > etc/motd; echo all > data/file"
        stack.kubectl("exec", "login-0", "-c", "sshd", "--", "sh", "-ec", by_root)
        return cls.look(stack)

    @classmethod
    def look(cls, stack: Stack) -> "Holdings":
        found = json.loads(stack.kubectl("get", ",".join(KINDS[1:]), "-o", "json"))["items"]
        found.append(json.loads(stack.kubectl("get", "namespace", stack.namespace, "-o", "json")))
        return cls(
            {_name(each): each["metadata"]["uid"] for each in found},
            {_name(each): each["data"] for each in found if each["kind"] == "Secret"},
            stack.run(f"stat --format='%n %F %U %a %s %Y' {' '.join(FILES)}; cat {' '.join(FILES)}"),
            _host_key(stack),
        )


def _name(each: dict[str, Any]) -> str:
    return f"{each['kind']} {each['metadata']['name']}"


def _host_key(stack: Stack) -> str:
    argv = ["ssh-keyscan", "-T", "20", "-t", "ed25519", "-p", str(stack.port), stack.lab.loopback]
    found = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert "ssh-ed25519" in found, found
    return found
