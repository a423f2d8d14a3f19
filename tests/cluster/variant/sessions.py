"""Sessions on one login pod of several, past the Service that would choose one."""

import shlex
import subprocess

from tests.cluster.stacks import Stack

LOGINS = ("login-0", "login-1")


def address(stack: Stack, pod: str) -> str:
    return stack.kubectl("get", "pod", pod, "-o", "jsonpath={.status.podIP}")


def on(stack: Stack, pod: str, script: str) -> str:
    """A script in a login shell on this pod, which must succeed."""
    argv = stack.ssh_argv()
    argv[argv.index("-p") + 1] = "22"
    argv[-1] = f"{stack.user}@{address(stack, pod)}"
    argv.append(f"bash -lc {shlex.quote(script)}")
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{script}\n-> {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.removesuffix("\n")


def host_key(stack: Stack, pod: str) -> str:
    """The key by which a user's ssh would know this pod: its only one."""
    argv = ["ssh-keyscan", "-T", "10", "-p", "22", address(stack, pod)]
    lines = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    keys = [" ".join(line.split()[1:]) for line in lines if not line.startswith("#")]
    assert len(keys) == 1, keys
    return keys[0]
