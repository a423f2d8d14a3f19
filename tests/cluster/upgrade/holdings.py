"""What people would miss if an upgrade took it from them."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.cluster.changes import pods
from tests.cluster.stacks import Stack

KINDS = "persistentvolumeclaims,secrets,statefulsets,services"
FILES = "~/kept/file ~/kept/link /data/file /opt/tool /etc/motd /.slipway/populated"
BY_USER = "mkdir -p ~/kept; echo mine > ~/kept/file; chmod 600 ~/kept/file; ln -sf file ~/kept/link"
BY_ROOT = "cd /mnt/jail; echo tool > opt/tool; chmod 755 opt/tool data; echo hello > etc/motd; echo all > data/file"


@dataclass(frozen=True)
class Holdings:
    """Objects by what Kubernetes tells one from its successor by, contents of Secrets, files, and the host key."""

    objects: dict[str, str]
    secrets: dict[str, dict[str, str]]
    files: str
    host_key: str

    @classmethod
    def look(cls, stack: Stack) -> "Holdings":
        found = json.loads(stack.kubectl("get", KINDS, "-o", "json"))["items"]
        found.append(json.loads(stack.kubectl("get", "namespace", stack.namespace, "-o", "json")))
        return cls(
            objects={_name(each): each["metadata"]["uid"] for each in found},
            secrets={_name(each): each["data"] for each in found if each["kind"] == "Secret"},
            files=stack.ssh(f"stat --format='%n %F %U %a %s %Y' {FILES}; cat {FILES}").stdout,
            host_key=_host_key(stack),
        )


def leave_files(stack: Stack) -> None:
    """As users and administrators do, on each of the volumes."""
    stack.run(f"set -e; {BY_USER}")
    stack.kubectl("exec", "login-0", "-c", "sshd", "--", "sh", "-ec", BY_ROOT)
    stack.run(f"ls {FILES}")


def pod_images(stack: Stack) -> dict[str, str]:
    """By which images it is all served."""
    return {name: pod["spec"]["containers"][0]["image"] for name, pod in pods(stack).items()}


def _name(each: dict[str, Any]) -> str:
    return f"{each['kind']} {each['metadata']['name']}"


def _host_key(stack: Stack) -> str:
    argv = ["ssh-keyscan", "-T", "20", "-t", "ed25519", "-p", str(stack.port), stack.lab.loopback]
    found = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert "ssh-ed25519" in found, found
    return found
